import type { NodeName } from '../../model/node.ts';
import type { Step } from '../../model/step.ts';
import { putBody } from '../../node/put-file.ts';
import { mutatingScript } from '../../node/root-script.ts';
import { restartBody } from '../../rack/boot/restart-mac.ts';
import { launchBody } from './job.ts';
import { scriptBody } from './registry.ts';
import { confirmBody, transactionBody } from './transaction.ts';

/** The text of one script that a step sends to root. */
export interface StepScript {
  readonly step: string;
  readonly node: NodeName;
  readonly text: string;
}

/** What only the run knows, and what stands in its place. */
export interface StepScriptTerms {
  /** The account that logs in on a node. */
  readonly userOf: (node: NodeName) => string;
  readonly rollbackSeconds: number;
  readonly rebootDelaySeconds: number;
}

const fence = { run: 'RUN', token: 0 };
const noteOf = (step: string) => ({ step, verb: 'apply', by: 'USER@HOST', config: 'CONFIG' });

/** The scripts of root of a step, in the order in which they are sent; none where it needs no root. */
export function stepScripts({ id, node, act }: Step, terms: StepScriptTerms): readonly StepScript[] {
  const texts = ((): readonly string[] => {
    switch (act.kind) {
      case 'script':
        return [scriptBody(act)];
      case 'put':
        return [putBody({ ...act, rootPrefix: '', login: terms.userOf(node) })];
      case 'transaction': {
        const about = { fence, note: noteOf(id) };
        return [transactionBody({ ...about, call: act, seconds: terms.rollbackSeconds }), confirmBody(about)];
      }
      case 'job':
        return [launchBody({ key: act.key, call: act })];
      case 'reboot': {
        const from = act.from.kind === 'known' ? act.from.value : 'BOOT-SESSION';
        return [restartBody({ intent: `reboot-${from}`, from, to: act.to, delaySeconds: terms.rebootDelaySeconds })];
      }
      default:
        return [];
    }
  })();
  return texts.map((text) => ({ step: id, node, text }));
}

/** What stands around every script: the check of the lease before it, a line of history after it. */
export const aroundScripts = (): string =>
  mutatingScript({ rootPrefix: '', fence, note: noteOf('STEP'), body: ': The script of the step.' });
