import { logFindings, showJson } from '../diagnostics-output.ts';
import { enrollSubjects } from '../enroll-subjects.ts';
import { openCluster } from '../open-cluster.ts';
import { usageError } from '../options.ts';
import { replaceMac } from '../replace-mac.ts';
import { settleFromLock } from '../settle-cluster.ts';
import { codeOfEnrolled, enrolledJson, showEnrolled } from '../show-enrolled.ts';
import { simulatedHints } from '../simulated-hints.ts';
import type { VerbBody } from '../verb.ts';

/** `replace NODE`: the Mac that answers for a node takes the place of the one that was it. */
export const replace: VerbBody = async (run) => {
  const opened = openCluster(run);
  const [word, ...more] = run.words;
  const isNode = opened.fleet.nodes.some(({ name }) => name === word);
  if (word === undefined || more.length > 0 || !isNode) {
    throw usageError('Exactly one node of the file is named here.', 'Say which: meshwright replace studio-2');
  }
  const { links } = settleFromLock(run, opened).lock;
  const { subjects, ways, keeper, nodes } = enrollSubjects(run);
  const [subject] = subjects;
  if (subject === undefined) throw new Error('a node of the file is a subject');
  const found = await replaceMac(run, { subject, ways, keeper, nodes, links });
  const { isSimulated } = ways;
  logFindings(run, found.diagnostics);
  const result = isSimulated ? { ...found, diagnostics: simulatedHints(found.diagnostics) } : found;
  if (run.options.json) showJson(run.console, enrolledJson([result], { keeper, isSimulated }));
  else showEnrolled(run, result, { keeper, isSimulated });
  const code = codeOfEnrolled(result);
  if (code === 0 && !run.options.json && result.mac !== 'kept') {
    run.console.out(`\nNow: meshwright apply ${result.label}${isSimulated ? ' --sim' : ''}\n`);
  }
  return code;
};
