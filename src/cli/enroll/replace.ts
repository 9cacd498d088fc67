import { commandText } from '../../diagnostics/prose-text.ts';
import { meshwright } from '../../model/text/command.ts';
import { prose } from '../../model/text/prose.ts';
import { openCluster } from '../cluster/open-cluster.ts';
import { settleFromLock } from '../cluster/settle-cluster.ts';
import { logFindings, showJson } from '../terminal/diagnostics-output.ts';
import { usageError } from '../verb/options.ts';
import type { VerbBody } from '../verb/verb.ts';
import { enrollSubjects } from './enroll-subjects.ts';
import { replaceMac } from './replace-mac.ts';
import { codeOfEnrolled, enrolledJson, showEnrolled } from './show-enrolled.ts';

/** `replace NODE`: the Mac that answers for a node takes the place of the one that was it. */
export const replace: VerbBody = async (run) => {
  const opened = openCluster(run);
  const [word, ...more] = run.words;
  const isNode = opened.fleet.nodes.some(({ name }) => name === word);
  if (word === undefined || more.length > 0 || !isNode) {
    throw usageError(
      'Exactly one node of the file is named here.',
      prose`Say which: ${meshwright('replace', 'studio-2')}`,
    );
  }
  const { links } = settleFromLock(run, opened).lock;
  const { subjects, ways, keeper, nodes } = enrollSubjects(run);
  const [subject] = subjects;
  if (subject === undefined) throw new Error('a node of the file is a subject');
  const result = await replaceMac(run, { subject, ways, keeper, nodes, links });
  const { isSimulated } = ways;
  logFindings(run, result.diagnostics);
  if (run.options.json) showJson(run.console, enrolledJson([result], { keeper, isSimulated }));
  else showEnrolled(run, result, { keeper, isSimulated });
  const code = codeOfEnrolled(result);
  if (code === 0 && !run.options.json && result.mac !== 'kept') {
    run.console.out(`\nNow: ${commandText(meshwright('apply', result.label), run.console)}\n`);
  }
  return code;
};
