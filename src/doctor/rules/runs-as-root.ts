import { ranksUser } from '../../desired/run-as.ts';
import { diagnose } from '../../diagnostics/diagnose.ts';
import type { Rule } from '../rule.ts';
import { nodeSubject } from '../subject.ts';

/** Nodes whose ranks run as root: the file says so, or names nobody, and root is who we are logged in as. */
export const runsAsRoot: Rule = ({ desired, nodes }) =>
  nodes.flatMap(({ name, desired: node, facts }) => {
    const user = ranksUser(desired, node);
    const login = facts.login.kind === 'known' ? facts.login.value : undefined;
    if ((user ?? login) !== 'root') return [];
    const own = desired.placements.filter((one) => one.nodes.includes(name)).map((one) => one.name);
    if (own.length === 0) return [];
    const why = user === undefined ? 'the file names no user for it, and ssh logs in as root' : 'the file says so';
    const detail = `The rank of ${own.join(', ')} runs as root here: ${why}.`;
    return [diagnose('mesh/runs-as-root', { subject: nodeSubject(name), detail })];
  });
