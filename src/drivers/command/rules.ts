import { nameHint, suggesterAmong } from '../../desired/did-you-mean.ts';
import {
  type Draft,
  type DraftPlacement,
  type DraftRuntime,
  type DraftText,
  draftLayouts,
} from '../../desired/draft.ts';
import type { FileFinding, FileRule } from '../../desired/rules/rule.ts';
import { listText } from '../../model/lists.ts';
import { placementSubject, runtimeSubject, type Subject } from '../../model/subject.ts';
import { commandFields, fieldsIn, fieldsOfStarts, isCommandField } from './fields.ts';

const names = Object.keys(commandFields);
const inBraces = (name: string): string => `{${name}}`;
const ports: readonly string[] = ['port', 'endpoint'];

/** Rules about command lines and environments with fields, for every driver. */
export const rules: readonly FileRule[] = [
  rolesMissing,
  pythonMissing,
  unknownField,
  programNotFound,
  fieldWithoutValue,
  fieldOfStarts,
  joinedInVain,
  roleUnknown,
  roleNode,
];

/** The texts of a runtime in which fields are filled in. */
const textsOf = ({ command, leader, follower, prefill, env, prepare }: DraftRuntime): readonly DraftText[] => [
  ...command,
  ...leader,
  ...follower,
  ...prefill,
  ...env,
  ...prepare,
];

const isCommand = ({ driver }: DraftRuntime): boolean => driver?.text === 'command';

/** Ranks have one command line for all of them, or one for the leader and one for the followers. */
function rolesMissing({ runtimes }: Draft): readonly FileFinding[] {
  return runtimes.filter(isCommand).flatMap(({ name, pointer, keys }): readonly FileFinding[] => {
    const subject = runtimeSubject(name);
    const [has, leads, follows] = ['command', 'leader', 'follower'].map((key) => keys.includes(key));
    const role = leads ? 'leader' : 'follower';
    if (!has && !leads && !follows) {
      const detail = 'A runtime with the driver command needs `command`, or `leader` and `follower`.';
      return [{ code: 'runtime/key-missing', pointer, at: 'key', detail, subject }];
    }
    if (has && (leads || follows)) {
      const detail = `\`command\` is for every rank, so no rank would use \`${role}\`.`;
      return [{ code: 'runtime/roles-conflict', pointer: `${pointer}/${role}`, at: 'key', detail, subject }];
    }
    if (has || leads === follows) return [];
    const other = leads ? 'follower' : 'leader';
    const detail = `\`${role}\` needs \`${other}\`, the command line of the other ranks.`;
    return [{ code: 'runtime/key-missing', pointer: `${pointer}/${role}`, at: 'key', detail, subject }];
  });
}

/** A Python runtime needs a version and a list of packages. */
function pythonMissing({ runtimes }: Draft): readonly FileFinding[] {
  return runtimes.filter(isCommand).flatMap(({ name, pointer, keys }) => {
    const has = (key: string): boolean => keys.includes(key);
    const [key] = ['requirements', 'python', 'wheels'].filter(has);
    const missing = ['python', 'requirements'].filter((one) => !has(one));
    if (key === undefined || missing.length === 0) return [];
    return {
      code: 'runtime/key-missing',
      pointer: `${pointer}/${key}`,
      at: 'key',
      detail: `\`${key}\` needs ${listText(missing.map((one) => `\`${one}\``))}.`,
      subject: runtimeSubject(name),
    };
  });
}

/** Every field must exist, and the fields of `joined` must be ports. */
function unknownField({ runtimes, placements }: Draft): readonly FileFinding[] {
  const near = suggesterAmong(names);
  const all = `The fields are ${listText(names.map(inBraces))}.`;
  const unknownIn = (texts: readonly DraftText[], subject: Subject): readonly FileFinding[] =>
    texts.flatMap(({ pointer, text }) =>
      fieldsIn(text)
        .filter((field) => !isCommandField(field.name))
        .map(({ name: field, ...part }): FileFinding => {
          const likely = near(field);
          const detail = `Unknown field ${inBraces(field)}.`;
          const words = nameHint(likely && inBraces(likely), all);
          return { code: 'runtime/unknown-field', pointer, part, detail, subject, ...words };
        }),
    );
  const drivenByCommand = new Set(runtimes.filter(isCommand).map(({ name }) => name));
  return [
    ...runtimes.flatMap((runtime) => [
      ...unknownIn(textsOf(runtime), runtimeSubject(runtime.name)),
      ...runtime.joined.flatMap((text) => noPort(text, runtimeSubject(runtime.name))),
    ]),
    ...placements.flatMap(({ name, runtime, env }) =>
      drivenByCommand.has(runtime?.text ?? '') ? unknownIn(env, placementSubject(name)) : [],
    ),
  ];
}

const noPort = ({ isText, text, pointer }: DraftText, subject: Subject): readonly FileFinding[] =>
  (isText ? fieldsIn(text) : [])
    .filter((field) => !ports.includes(field.name))
    .map(
      ({ name: field, ...part }): FileFinding => ({
        code: 'runtime/unknown-field',
        pointer,
        part,
        detail: `${inBraces(field)} is not a port.`,
        hint: 'Use "{port}", where the ranks meet, or "{endpoint}".',
        subject,
      }),
    );

/** The program of a command line must be a path: inside the archive, or absolute on the Mac. */
function programNotFound(draft: Draft): readonly FileFinding[] {
  return draft.runtimes.flatMap(({ name, pointer, command, leader, follower, prefill, prepare }) =>
    Object.entries({ command, leader, follower, 'roles/prefill': prefill, prepare }).flatMap(([key, [program]]) => {
      const isFirst = program?.pointer === `${pointer}/${key}/0`;
      if (program === undefined || !isFirst || /^(?:\{runtime\})?\/[^/]/.test(program.text)) return [];
      return {
        code: 'runtime/program-not-found',
        pointer: program.pointer,
        detail: `\`${program.text.slice(0, 60)}\` is neither a path below {runtime} nor an absolute path.`,
        subject: runtimeSubject(name),
      };
    }),
  );
}

/** Every placement of a runtime must have the cables and devices that its fields name. */
function fieldWithoutValue({ runtimes, placements }: Draft): readonly FileFinding[] {
  const byName = new Map(runtimes.filter(isCommand).map((runtime) => [runtime.name, runtime]));
  return draftLayouts(placements).flatMap((placement) => {
    const runtime = byName.get(placement.runtime?.text ?? '');
    if (runtime === undefined || !placement.hasAllNodes) return [];
    return [...textsOf(runtime), ...placement.env].flatMap(({ pointer, text }) =>
      fieldsIn(text).flatMap(({ name: field, ...part }): readonly FileFinding[] => {
        const lack = lackOf(field, placement);
        if (lack === undefined) return [];
        const { name, isFallback } = placement;
        const where = isFallback === true ? `the fallback of ${name}` : name;
        return [
          {
            code: 'runtime/field-without-value',
            pointer,
            part,
            detail: `${inBraces(field)} ${lack}, and ${where} ${reasonOf(field, placement)}.`,
            subject: placementSubject(name),
            others: [{ pointer: placement.pointer, at: 'key', detail: `${name} is declared here.` }],
          },
        ];
      }),
    );
  });
}

/** The condition for a field that this placement does not meet; undefined if the field has a value. */
function lackOf(field: string, placement: DraftPlacement): string | undefined {
  const { length } = placement.nodes;
  if (field === 'device' && length !== 2) return 'is the device between two ranks';
  if (field === 'devices' && length < 2) return 'lists the devices between ranks';
  if (field === 'prefill' && placement.prefill === undefined) return 'is the address of the node with the role prefill';
  const isDevice = field === 'device' || field === 'devices';
  return isDevice && placement.transport?.text !== 'rdma' ? 'needs `transport: rdma`' : undefined;
}

const reasonOf = (field: string, { nodes: { length }, transport }: DraftPlacement): string => {
  if (field === 'prefill') return 'gives this role to no node';
  return (field === 'device' && length !== 2) || length < 2
    ? `has ${length === 1 ? 'one node' : `${length} nodes`}`
    : `has \`transport: ${transport?.text ?? 'none'}\``;
};

/** `prepare` runs once for many starts, so it cannot use values of one start. */
function fieldOfStarts({ runtimes }: Draft): readonly FileFinding[] {
  return runtimes.flatMap(({ name, prepare }) =>
    prepare.flatMap(({ pointer, text }) =>
      fieldsIn(text)
        .filter((field) => fieldsOfStarts.includes(field.name))
        .map(
          ({ name: field, ...part }): FileFinding => ({
            code: 'runtime/field-of-starts',
            pointer,
            part,
            detail: `${inBraces(field)} can have a different value at each start.`,
            subject: runtimeSubject(name),
          }),
        ),
    ),
  );
}

/** `joined.meeting` delays the followers until the leader listens, so the leader must start first. */
function joinedInVain({ runtimes }: Draft): readonly FileFinding[] {
  return runtimes.flatMap(({ name, order, meeting }) => {
    if (meeting === undefined || order === undefined || order.text === 'leader-first') return [];
    return {
      code: 'runtime/meeting-in-vain',
      pointer: meeting.pointer,
      detail: `With \`order: ${order.text}\`, no rank waits for the leader.`,
      subject: runtimeSubject(name),
    };
  });
}

/** A placement can give only roles that its runtime has a command line for. */
function roleUnknown({ runtimes, placements }: Draft): readonly FileFinding[] {
  const byName = new Map(runtimes.filter(isCommand).map((runtime) => [runtime.name, runtime]));
  return placements.flatMap(({ name, runtime, prefill }): readonly FileFinding[] => {
    const found = byName.get(runtime?.text ?? '');
    if (prefill === undefined || found === undefined || found.prefill.length > 0) return [];
    const detail = `The runtime ${found.name} has no command line for the role prefill.`;
    const others = [{ pointer: found.pointer, at: 'key', detail: `${found.name} is declared here.` }] as const;
    return [
      {
        code: 'placement/role-unknown',
        pointer: prefill.pointer,
        at: 'key',
        detail,
        subject: placementSubject(name),
        others,
      },
    ];
  });
}

/** A role belongs to a node of the placement that is not the leader, because the leader answers the requests. */
function roleNode({ placements }: Draft): readonly FileFinding[] {
  return placements.flatMap(({ name, nodes, hasAllNodes, prefill }): readonly FileFinding[] => {
    const at = nodes.findIndex(({ text }) => text === prefill?.text);
    if (prefill === undefined || !hasAllNodes || at > 0) return [];
    const why = at === 0 ? `is the leader of ${name}, which answers requests` : `is not among the nodes of ${name}`;
    return [
      {
        code: 'placement/role-node',
        pointer: prefill.pointer,
        detail: `${prefill.text} ${why}.`,
        subject: placementSubject(name),
      },
    ];
  });
}
