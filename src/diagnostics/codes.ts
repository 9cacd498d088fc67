import { exoCodes } from './codes/drivers/codes-exo.ts';
import { llamaCodes } from './codes/drivers/codes-llama.ts';
import { mlxCodes } from './codes/drivers/codes-mlx.ts';
import { fileCodes } from './codes/file/codes-file.ts';
import { fitCodes } from './codes/file/codes-fit.ts';
import { playbookCodes } from './codes/file/codes-playbook.ts';
import { secretCodes } from './codes/file/codes-secret.ts';
import { doctorCodes } from './codes/rack/codes-doctor.ts';
import { factCodes } from './codes/rack/codes-fact.ts';
import { meshCodes } from './codes/rack/codes-mesh.ts';
import { planCodes } from './codes/rack/codes-plan.ts';
import { proofCodes } from './codes/rack/codes-proof.ts';
import { rollbackCodes } from './codes/rack/codes-rollback.ts';
import { transactionCodes } from './codes/rack/codes-transaction.ts';
import { applyCodes } from './codes/run/codes-apply.ts';
import { benchCodes } from './codes/run/codes-bench.ts';
import { cliCodes } from './codes/run/codes-cli.ts';
import { enrollCodes } from './codes/run/codes-enroll.ts';
import { simCodes } from './codes/run/codes-sim.ts';
import { sshCodes } from './codes/run/codes-ssh.ts';
import { toolCodes } from './codes/run/codes-tool.ts';
import { unlockCodes } from './codes/run/codes-unlock.ts';

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
