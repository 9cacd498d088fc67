import { applyCodes } from './codes-apply.ts';
import { benchCodes } from './codes-bench.ts';
import { cliCodes } from './codes-cli.ts';
import { doctorCodes } from './codes-doctor.ts';
import { enrollCodes } from './codes-enroll.ts';
import { exoCodes } from './codes-exo.ts';
import { factCodes } from './codes-fact.ts';
import { fileCodes } from './codes-file.ts';
import { fitCodes } from './codes-fit.ts';
import { llamaCodes } from './codes-llama.ts';
import { meshCodes } from './codes-mesh.ts';
import { mlxCodes } from './codes-mlx.ts';
import { planCodes } from './codes-plan.ts';
import { playbookCodes } from './codes-playbook.ts';
import { proofCodes } from './codes-proof.ts';
import { rollbackCodes } from './codes-rollback.ts';
import { secretCodes } from './codes-secret.ts';
import { simCodes } from './codes-sim.ts';
import { sshCodes } from './codes-ssh.ts';
import { toolCodes } from './codes-tool.ts';
import { transactionCodes } from './codes-transaction.ts';
import { unlockCodes } from './codes-unlock.ts';

/** Every code there is, `area/slug`; never reused, each documented and provoked by a test. */
export const codes = {
  ...fileCodes,
  ...sshCodes,
  ...enrollCodes,
  ...factCodes,
  ...doctorCodes,
  ...applyCodes,
  ...benchCodes,
  ...transactionCodes,
  ...fitCodes,
  ...llamaCodes,
  ...meshCodes,
  ...mlxCodes,
  ...proofCodes,
  ...exoCodes,
  ...planCodes,
  ...playbookCodes,
  ...cliCodes,
  ...rollbackCodes,
  ...secretCodes,
  ...simCodes,
  ...toolCodes,
  ...unlockCodes,
};

/** A code of the registry. */
export type DiagnosticCode = keyof typeof codes;
