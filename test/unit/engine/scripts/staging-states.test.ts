import type { ScriptCall } from '../../../../src/model/node-script.ts';
import { nodePath } from '../../../../src/node/paths/node-paths.ts';
import {
  currentLink,
  jobFolder,
  listName,
  sealName,
  stagingFolder,
  stagingName,
  treeFolder,
  verifiedMark,
  versionsFolder,
} from '../../../../src/node/paths/own-paths.ts';
import { sh } from '../../../../src/rack/artifacts/scripts.generated.ts';
import { itInEachState, type NodeState } from './node-states.ts';
import { sha256 } from './run-job.ts';
import { exampleDigest, exampleModel, exampleRuntime } from './script-examples.ts';

/** The functions of a job that compares files, without a job. */
const functions = `d="$R/job"
progress() { printf '%s\\n' "$*"; }
${sh.stagedFiles({ staging: nodePath('/staging'), digest: exampleDigest, paths: "a\nsub/b's", total: 2 })}
`;
const job = { 'job/run': '' };
const file = 'staging/tree/a';
const mark = `staging/checked/${sha256('ab')}`;
const compared: NodeState = { files: { ...job, [file]: 'ab', [mark]: 'flushed\n' }, ages: { [file]: 60 } };
const isChecked = `${functions}ischecked a ${sha256('ab')} 2 && changed\nunchanged`;
const isCheckedEmpty = isChecked.replace(' 2 &&', ' 0 &&');
const compare = `${functions}compare "$t/a" ${sha256('ab')} 2 && changed\nunchanged`;
const without = (more: NodeState): NodeState => ({
  ...compared,
  ...more,
  files: { ...compared.files, ...more.files },
  ages: more.ages ?? {},
});

itInEachState('a staged file', [
  ['counts as compared', isChecked, compared, { ends: '0 2 changed' }],
  ['does not count without its mark', isChecked, without({ files: { [mark]: null } }), { ends: '0 2 unchanged' }],
  [
    'does not count with the mark of an older version',
    isChecked,
    without({ files: { [mark]: '' } }),
    { ends: '0 2 unchanged' },
  ],
  [
    'does not count with a different size',
    isChecked,
    without({ files: { [file]: 'abc' }, ages: { [file]: 60 } }),
    { ends: '0 2 unchanged' },
  ],
  [
    'does not count if it was written after its comparison',
    isChecked,
    without({ ages: { [mark]: 60 } }),
    { ends: '0 2 unchanged' },
  ],
  ['does not count if it is missing', isCheckedEmpty, without({ files: { [file]: null } }), { ends: '0 2 unchanged' }],
  [
    'does not count as a link',
    isChecked,
    without({ files: { 'staging/tree/bb': 'ab' }, links: { [file]: 'bb' }, ages: { 'staging/tree/bb': 60 } }),
    { ends: '0 2 unchanged' },
  ],
  ['is right with the right bytes', compare, compared, { ends: '0 2 changed' }],
  ['is wrong with other bytes', compare, without({ files: { [file]: 'ax' } }), { ends: '0 2 unchanged' }],
  [
    'is wrong with another size, and is not read',
    compare,
    without({ files: { [file]: 'abc' }, tools: { 'usr/bin/shasum': 'exit 1' } }),
    { ends: '0 2 unchanged', calls: ['chown -R root:wheel $R/staging'] },
  ],
  [
    'is wrong as a link',
    compare,
    without({ files: { 'staging/tree/bb': 'ab' }, links: { [file]: 'bb' } }),
    { ends: '0 2 unchanged' },
  ],
  ['is wrong if it is missing', compare, without({ files: { [file]: null } }), { ends: '0 2 unchanged' }],
  [
    'has no size if stat fails',
    compare,
    without({ tools: { 'usr/bin/stat': 'case $2 in (%u) exec /usr/bin/stat -c %u "$3" ;; (*) exit 1 ;; esac' } }),
    { ends: 'stat: the size of a file could not be read' },
  ],
  [
    'stays if the model has its name, unlike links and other files',
    `${functions}only\nchanged`,
    {
      files: { ...job, [file]: 'ab', "staging/tree/sub/b's": '', 'staging/tree/b': '', 'staging/tree/sub/a': '' },
      links: { 'staging/tree/sub/link': 'a' },
    },
    {
      ends: '0 2 changed',
      leaves: {
        [file]: 'ab',
        "staging/tree/sub/b's": '',
        'staging/tree/b': null,
        'staging/tree/sub/a': null,
        'staging/tree/sub/link': null,
      },
    },
  ],
  [
    'is in the list and in the progress once it is compared',
    `${functions}checked a ${sha256('ab')} 2\nlisted\nchanged`,
    { files: { ...job, [file]: 'ab' } },
    { ends: '0 2 2 2 changed', leaves: { [mark]: 'flushed\n', [`staging/tree/${listName}`]: `${sha256('ab')} 2 a\n` } },
  ],
  [
    'is not compared on a volume that keeps its owner',
    isChecked,
    { files: { ...job, [file]: 'ab' }, tools: { 'usr/bin/find': "printf 'x\\n'" } },
    { ends: 'chown: chown reported success, but not all files belong to root' },
  ],
  [
    'is not compared if its owner is unknown',
    isChecked,
    { files: { ...job, [file]: 'ab' }, tools: { 'usr/bin/find': 'exit 1' } },
    { ends: 'chown: chown reported success, but not all files belong to root' },
  ],
]);

const folder = stagingFolder(exampleModel).path;
const name = stagingName(exampleModel);
const key = exampleDigest;
const running = jobFolder(key).path;
const clear = (folders: readonly string[], jobs: readonly (typeof key)[] = []): ScriptCall => ({
  name: 'clear-staging',
  args: { folders, jobs },
});
const tree = `tree=model ${exampleModel.name} ${name.split('-').at(-1)}\n`;
const runs = `printf '/bin/sh %s/run\\n' "$R${running}"`;
/** A job that works on the tree, and runs if `ps` shows it. */
const used: NodeState = {
  files: {
    [`${folder}/tree/a`]: 'ab',
    [`${running}/job`]: tree,
    [`${running}/pid`]: '4711\n',
    [`opt/meshwright/builds/${name}.x/a`]: '',
  },
  tools: { 'bin/ps': runs },
};
const usedWith = (files: NodeState['files'], tools: NodeState['tools'] = used.tools): NodeState => ({
  files: { ...used.files, ...files },
  ...(tools && { tools }),
});
const gone = { [`${folder}/`]: null, [`opt/meshwright/builds/${name}.x/`]: null };

itInEachState('clear-staging', [
  [
    'keeps the folder of a running job',
    clear([name]),
    used,
    { ends: 'unchanged', leaves: { [`${folder}/tree/a`]: 'ab', [`opt/meshwright/builds/${name}.x/a`]: '' } },
  ],
  [
    'removes the folder of a job that does not run',
    clear([name]),
    usedWith({}, { 'bin/ps': 'exit 1' }),
    { ends: 'changed', leaves: gone },
  ],
  [
    'removes the folder of a job that has ended',
    clear([name]),
    usedWith({ [`${running}/rc`]: '0\n' }),
    { ends: 'changed', leaves: gone },
  ],
  [
    'removes the folder of a job without a process number',
    clear([name]),
    usedWith({ [`${running}/pid`]: '47x\n' }),
    { ends: 'changed', leaves: gone },
  ],
  [
    'removes a folder that no job names',
    clear([name]),
    usedWith({ [`${running}/job`]: `x${tree}` }),
    { ends: 'changed', leaves: gone },
  ],
  [
    'removes a folder beside a job without a file',
    clear([name]),
    usedWith({ [`${running}/job`]: null }),
    { ends: 'changed', leaves: gone },
  ],
  [
    'changes nothing without the folder',
    clear([name]),
    usedWith({ [folder]: null, [`${running}/rc`]: '0\n' }),
    { ends: 'unchanged', leaves: { [`opt/meshwright/builds/${name}.x/a`]: '' } },
  ],
  [
    'removes the job of a process that has ended',
    clear([], [key]),
    usedWith({}, { 'bin/ps': 'exit 1' }),
    { ends: 'changed', leaves: { [`${running}/`]: null, [`${folder}/tree/a`]: 'ab' } },
  ],
  [
    'removes a job that has a result and still runs',
    clear([], [key]),
    usedWith({ [`${running}/rc`]: '0\n' }),
    { ends: 'changed', leaves: { [`${running}/`]: null } },
  ],
  ['keeps a running job', clear([], [key]), used, { ends: 'unchanged', leaves: { [`${running}/job`]: tree } }],
  ['changes nothing without the job', clear([], [key]), { files: {} }, { ends: 'unchanged' }],
  [
    'completes an interrupted removal',
    clear([]),
    { files: { 'opt/meshwright/staging/.removed-7-x/a': '' } },
    { ends: 'unchanged', leaves: { 'opt/meshwright/staging/.removed-7-x/': null } },
  ],
]);

const published = treeFolder(exampleModel).path;
const seal = `digest=${exampleModel.digest}\nfiles=1\n`;
const publish: ScriptCall = { name: 'publish-tree', args: { tree: exampleModel, jobs: [key] } };
const staged = (verified: string, more: NodeState['files'] = {}): NodeState => ({
  files: { [`${folder}/tree/a`]: 'ab', [verifiedMark(exampleModel).path]: verified, ...more },
  tools: { 'usr/bin/perl': 'exit 0' },
});
const flushed = `${exampleModel.digest} flushed\n`;

itInEachState('publish-tree', [
  [
    'does not flush a tree that its job has flushed',
    publish,
    staged(flushed),
    { ends: 'changed', leaves: { [`${published}/a`]: 'ab' }, calls: [] },
  ],
  [
    'flushes a tree that its job has not flushed',
    publish,
    { ...staged(`${exampleModel.digest}\n`), tools: { 'usr/bin/perl': '[ "$2" = 0 ] || { printf no; exit 1; }' } },
    { ends: 'flush: no', leaves: { [`${published}/a`]: null } },
  ],
  [
    'refuses a mark without a tree',
    publish,
    staged(flushed, { [`${folder}/tree/a`]: null, [`${folder}/tree`]: null }),
    { ends: 'not-verified: the staged tree has not been verified' },
  ],
  [
    'keeps a published tree that is intact, and removes what made it',
    publish,
    {
      files: {
        [`${published}/a`]: 'ab',
        [`${published}/${sealName}`]: seal,
        [`${folder}/tree/a`]: 'x',
        [`${running}/rc`]: '0\n',
        'opt/meshwright/staging/.removed-7-x/a': '',
      },
      ages: { [`${published}/${sealName}`]: -60 },
    },
    {
      ends: 'unchanged',
      leaves: {
        [`${published}/a`]: 'ab',
        [`${folder}/`]: null,
        [`${running}/`]: null,
        'opt/meshwright/staging/.removed-7-x/': null,
      },
    },
  ],
  [
    'removes the replaced tree of an interrupted run',
    publish,
    staged(flushed, { 'opt/meshwright/staging/.replaced-7/a': '' }),
    { ends: 'changed', leaves: { 'opt/meshwright/staging/.replaced-7/': null } },
  ],
  [
    'seals the list of libraries with the tree',
    publish,
    staged(flushed, { [`${folder}/libraries`]: 'python=3\npackages=x\n' }),
    { ends: 'changed', leaves: { [`${published}/${sealName}`]: `${seal}bytes=2\n` } },
  ],
  [
    'does not publish a tree whose seal does not fit',
    publish,
    {
      ...staged(flushed),
      tools: {
        'usr/bin/perl': 'exit 0',
        'bin/mv': 'case $3 in (*/0*|*/f*) /bin/mv -f "$2" "$3" && printf x >"$3/more" ;; (*) exec /bin/mv "$@" ;; esac',
      },
    },
    { ends: 'not-intact: the tree changed while it was published' },
  ],
]);

const prepare: ScriptCall = { name: 'prepare-staging', args: { tree: exampleModel, user: 'mesh' } };
const chown = `chown -R mesh $R${folder}`;
itInEachState('prepare-staging', [
  ['keeps a verified tree', prepare, staged(flushed), { ends: 'unchanged', calls: [] }],
  [
    'reopens a tree with the mark of an older version',
    prepare,
    staged(`${exampleModel.digest}\n`),
    {
      ends: 'changed',
      leaves: { [verifiedMark(exampleModel).path]: null, [`${folder}/tree/a`]: 'ab' },
      calls: [chown],
    },
  ],
  [
    'creates the tree that its mark lacks',
    prepare,
    staged(flushed, { [`${folder}/tree/a`]: null, [`${folder}/tree`]: null }),
    { ends: 'changed', leaves: { [`${folder}/tree/`]: '', [verifiedMark(exampleModel).path]: null }, calls: [chown] },
  ],
  [
    'creates the folder',
    prepare,
    { files: {} },
    { ends: 'changed', leaves: { [`${folder}/tree/`]: '' }, calls: [chown] },
  ],
]);

const version = treeFolder(exampleRuntime).path;
const current = currentLink('reference').path;
const use: ScriptCall = { name: 'switch-runtime', args: { tree: exampleRuntime, programs: ['bin/rank'] } };
const program: NodeState = { files: { [`${version}/bin/rank`]: '' }, tools: {} };
const removeRuntime: ScriptCall = {
  name: 'remove-runtime-versions',
  args: { name: 'reference', digests: [exampleRuntime.digest] },
};
const removeModel: ScriptCall = {
  name: 'remove-model-versions',
  args: { name: 'tiny', digests: [exampleModel.digest] },
};
const models = versionsFolder(exampleModel).path;
const modelThere: NodeState = { files: { [`${published}/a`]: 'ab' }, tools: { 'bin/ps': "printf '/sbin/launchd\\n'" } };

itInEachState('the scripts for versions', [
  [
    'do not switch to a file that no one may run',
    use,
    program,
    { ends: 'no-program: bin/rank is not a program of this version', leaves: { [current]: null } },
  ],
  [
    'do not switch to a folder in place of a program',
    use,
    { files: { [`${version}/bin/rank/`]: '' } },
    { ends: 'no-program: bin/rank is not a program of this version' },
  ],
  [
    'do not replace a folder called current',
    { name: 'switch-runtime', args: { tree: exampleRuntime } },
    { files: { ...program.files, [`${current}/a`]: '' } },
    { ends: 'odd-link: current is not a link', leaves: { [`${current}/a`]: '' } },
  ],
  [
    'finish an interrupted switch',
    { name: 'switch-runtime', args: { tree: exampleRuntime } },
    { files: { ...program.files }, links: { [`${current}-new`]: 'x', [current]: 'x' } },
    { ends: 'changed', leaves: { [`${current}/bin/rank`]: '' } },
  ],
  [
    'remove a runtime version without a current one',
    removeRuntime,
    program,
    { ends: 'changed', leaves: { [`${version}/`]: null } },
  ],
  [
    'keep the current version',
    removeRuntime,
    { ...program, links: { [current]: version.split('/').at(-1) ?? '' } },
    {
      ends: `current-version: version ${version.split('/').at(-1)} is the current one`,
      leaves: { [`${version}/bin/rank`]: '' },
    },
  ],
  ['change nothing without the runtime version', removeRuntime, { files: {} }, { ends: 'unchanged' }],
  ['remove a model version', removeModel, modelThere, { ends: 'changed', leaves: { [`${models}/`]: null } }],
  [
    'keep a model version if the processes are unknown',
    removeModel,
    { ...modelThere, tools: { 'bin/ps': 'exit 1' } },
    { ends: 'ps: the processes could not be listed', leaves: { [`${published}/a`]: 'ab' } },
  ],
  [
    'do not follow a link in place of the folder of models',
    removeModel,
    { ...modelThere, files: { 'elsewhere/tiny/a': '' }, links: { 'opt/meshwright/models': '../../elsewhere' } },
    { ends: 'odd-link: $R/opt/meshwright/models is a link' },
  ],
  ['change nothing without the model version', removeModel, { tools: modelThere.tools ?? {} }, { ends: 'unchanged' }],
]);

const sealed: NodeState = {
  files: { 'tree/a': 'ab', 'tree/.meshwright-seal': 'digest=d\nfiles=1\n' },
  ages: { 'tree/.meshwright-seal': -60 },
};
const isIntact = `${sh.sealedTree({})}\nintact "$R/tree" d && changed\nunchanged`;
itInEachState('a sealed tree', [
  ['is intact', isIntact, sealed, { ends: 'changed' }],
  ['is not intact without a seal', isIntact, { files: { 'tree/a': 'ab' } }, { ends: 'unchanged' }],
  ['is not intact with a different digest', isIntact.replace(' d &&', ' e &&'), sealed, { ends: 'unchanged' }],
  [
    'is not intact with a file more',
    isIntact,
    { ...sealed, files: { ...sealed.files, 'tree/b': '' } },
    { ends: 'unchanged' },
  ],
  [
    'is intact with a folder more',
    isIntact,
    { ...sealed, files: { ...sealed.files, 'tree/b/': '' } },
    { ends: 'changed' },
  ],
  [
    'is not intact if a file has changed since',
    isIntact,
    {
      ...sealed,
      ages: { 'tree/.meshwright-seal': 0 },
      tools: { 'usr/bin/find': 'case $* in (*-cnewer*) printf x ;; (*) exec /usr/bin/find "$@" ;; esac' },
    },
    { ends: 'unchanged' },
  ],
]);
