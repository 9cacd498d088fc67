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
import { sh } from '../../../../src/rack/artifacts/trees/scripts.generated.ts';
import { aged, at, comparesTraces, empty, gone, linked, tableOf } from './node-states.ts';
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
const [text, marked, aged60] = [at(file, 'ab'), at(mark, 'flushed\n'), aged(file, 'ab', 60)];
const compared = { ...job, ...aged60, ...marked };
const fresh = { ...compared, ...text };
const isChecked = `${functions}ischecked a ${sha256('ab')} 2 && changed\nunchanged`;
const isCheckedEmpty = isChecked.replace(' 2 &&', ' 0 &&');
const compare = `${functions}compare "$t/a" ${sha256('ab')} 2 && changed\nunchanged`;
const [right, wrong] = ['0 2 changed', '0 2 unchanged'];

const wanted = empty("staging/tree/sub/b's");
const keepOnly = `${functions}only\nchanged`;
const list = `${functions}checked a ${sha256('ab')} 2\nlisted\nchanged`;
const listed = at(`staging/tree/${listName}`, `${sha256('ab')} 2 a\n`);
const foreign = 'chown: chown reported success, but not all files belong to root';
const files = tableOf('a staged file');
files('counts as compared', isChecked).in(compared).ends(right);
files('does not count without its mark', isChecked).in(fresh, gone(mark)).ends(wrong);
files("does not count with an older version's mark", isChecked).in(fresh, empty(mark)).ends(wrong);
files('does not count with a different size', isChecked)
  .in(compared, aged(file, 'abc', 60))
  .ends(wrong);
files('does not count if it was written after its comparison', isChecked)
  .in(fresh, aged(mark, 'flushed\n', 60))
  .ends(wrong);
files('does not count if it is missing', isCheckedEmpty).in(fresh, gone(file)).ends(wrong);
files('does not count as a link', isChecked)
  .in(compared, aged('staging/tree/bb', 'ab', 60), linked(file, 'bb'))
  .ends(wrong);
files('is right with the right bytes', compare).in(compared).ends(right);
files('is wrong with other bytes', compare).in(fresh, at(file, 'ax')).ends(wrong);
files('is wrong with a different size, and is not read', compare)
  .in(fresh, at(file, 'abc'), at('usr/bin/shasum', 'exit 1'))
  .ends(wrong, ['chown -R root:wheel $R/staging']);
files('is wrong as a link', compare).in(fresh, at('staging/tree/bb', 'ab'), linked(file, 'bb')).ends(wrong);
files('is wrong if it is missing', compare).in(fresh, gone(file)).ends(wrong);
files('has no size if stat fails', compare)
  .in(fresh, at('usr/bin/stat', 'case $2 in (%u) exec /usr/bin/stat -c %u "$3" ;; (*) exit 1 ;; esac'))
  .ends('stat: the size of a file could not be read');
files('stays if its name belongs to the model, unlike links and other files', keepOnly)
  .in(job, text, wanted, empty('staging/tree/b', 'staging/tree/sub/a'), linked('staging/tree/sub/link', 'a'))
  .ends(right, text, wanted, gone('staging/tree/b', 'staging/tree/sub/a', 'staging/tree/sub/link'));
files('appears in the list and in the progress once it is compared', list)
  .in(job, text)
  .ends('0 2 2 2 changed', marked, listed);
files('is not compared on a volume that keeps its owner', isChecked)
  .in(job, text, at('usr/bin/find', "printf 'x\\n'"))
  .ends(foreign);
files('is not compared if its owner is unknown', isChecked).in(job, text, at('usr/bin/find', 'exit 1')).ends(foreign);

const folder = stagingFolder(exampleModel).path;
const name = stagingName(exampleModel);
const key = exampleDigest;
const running = jobFolder(key).path;
const clear = (folders: readonly string[], jobs: readonly (typeof key)[]): ScriptCall => ({
  name: 'clear-staging',
  args: { folders, jobs },
});
const [clearFolder, clearJob] = [clear([name], []), clear([], [key])];
const tree = `tree=model ${exampleModel.name} ${name.split('-').at(-1)}\n`;
const runs = `printf '/bin/sh %s/run\\n' "$R${running}"`;
/** A job that works on the tree, and runs if `ps` shows it. */
const inJob = (name: string, text: string) => at(`${running}/${name}`, text);
const noJob = gone(`${running}/`);
const build = empty(`opt/meshwright/builds/${name}.x/a`);
const used = {
  ...{ ...at(`${folder}/tree/a`, 'ab'), ...inJob('job', tree), ...inJob('pid', '4711\n'), ...build },
  'bin/ps': runs,
};
const cleared = gone(`${folder}/`, `opt/meshwright/builds/${name}.x/`);
const stopped = at('bin/ps', 'exit 1');
const replacedTree = 'opt/meshwright/staging/.replaced-7/';
const removedTree = 'opt/meshwright/staging/.removed-7-x/';

const clears = tableOf('clear-staging');
clears('keeps the folder of a running job', clearFolder)
  .in(used)
  .ends('unchanged', at(`${folder}/tree/a`, 'ab'), build);
clears('removes the folder of a job that is not running', clearFolder).in(used, stopped).ends('changed', cleared);
clears('removes the folder of a job that has ended', clearFolder).in(used, inJob('rc', '0\n')).ends('changed', cleared);
clears('removes the folder of a job without a process number', clearFolder)
  .in(used, inJob('pid', '47x\n'))
  .ends('changed', cleared);
clears('removes a folder that no job names', clearFolder)
  .in(used, inJob('job', `x${tree}`))
  .ends('changed', cleared);
clears('removes a folder next to a job without a file', clearFolder)
  .in(used, gone(`${running}/job`))
  .ends('changed', cleared);
clears('changes nothing without the folder', clearFolder)
  .in(used, gone(folder), inJob('rc', '0\n'))
  .ends('unchanged', build);
clears('removes the job of a process that has ended', clearJob)
  .in(used, stopped)
  .ends('changed', noJob, at(`${folder}/tree/a`, 'ab'));
clears('removes a job that has a result and is still running', clearJob)
  .in(used, inJob('rc', '0\n'))
  .ends('changed', noJob);
clears('keeps a running job', clearJob).in(used).ends('unchanged', inJob('job', tree));
clears('changes nothing without the job', clearJob).ends('unchanged');
clears('completes an interrupted removal', clear([], []))
  .in(empty(`${removedTree}a`))
  .ends('unchanged', gone(removedTree));

const published = treeFolder(exampleModel).path;
const seal = `digest=${exampleModel.digest}\nfiles=1\n`;
const publish: ScriptCall = { name: 'publish-tree', args: { tree: exampleModel, jobs: [key] } };
const verifiedPath = verifiedMark(exampleModel).path;
const bytes = at(`${published}/a`, 'ab');
const sealed = `${published}/${sealName}`;
const staged = (verified: string) => ({
  ...{ [`${folder}/tree/a`]: 'ab', [verifiedPath]: verified },
  'usr/bin/perl': 'exit 0',
});
const flushed = staged(`${exampleModel.digest} flushed\n`);
const unflushed = staged(`${exampleModel.digest}\n`);
const noTree = gone(`${folder}/tree/a`, `${folder}/tree`);
const grows = 'case $3 in (*/0*|*/f*) /bin/mv -f "$2" "$3" && printf x >"$3/more" ;; (*) exec /bin/mv "$@" ;; esac';

const publishes = tableOf('publish-tree');
publishes('does not flush a tree that its job has flushed', publish).in(flushed).ends('changed', bytes, []);
publishes('flushes a tree that its job has not flushed', publish)
  .in(unflushed, at('usr/bin/perl', '[ "$2" = 0 ] || { printf no; exit 1; }'))
  .ends('flush: no', gone(`${published}/a`));
publishes('refuses a mark without a tree', publish)
  .in(flushed, noTree)
  .ends('not-verified: the staged tree has not been verified');
publishes('keeps a published tree that is intact, and removes the files that made it', publish)
  .in(bytes, aged(sealed, seal, -60), at(`${folder}/tree/a`, 'x'), inJob('rc', '0\n'), empty(`${removedTree}a`))
  .ends('unchanged', bytes, gone(`${folder}/`, removedTree), noJob);
publishes('removes the replaced tree of an interrupted run', publish)
  .in(flushed, empty(`${replacedTree}a`))
  .ends('changed', gone(replacedTree));
publishes('seals the list of libraries with the tree', publish)
  .in(flushed, at(`${folder}/libraries`, 'python=3\npackages=x\n'))
  .ends('changed', at(sealed, `${seal}bytes=2\n`));
publishes('does not publish a tree whose seal does not match', publish)
  .in(flushed, at('bin/mv', grows))
  .ends('not-intact: the tree changed while it was published');

const prepare: ScriptCall = { name: 'prepare-staging', args: { tree: exampleModel, user: 'mesh' } };
const chown = `chown -R mesh $R${folder}`;
const prepares = tableOf('prepare-staging');
prepares('keeps a verified tree', prepare).in(flushed).ends('unchanged', []);
prepares("reopens a tree with an older version's mark", prepare)
  .in(unflushed)
  .ends('changed', gone(verifiedPath), at(`${folder}/tree/a`, 'ab'), [chown]);
prepares('creates the tree if only its mark exists', prepare)
  .in(flushed, noTree)
  .ends('changed', gone(verifiedPath), empty(`${folder}/tree/`), [chown]);
prepares('creates the folder', prepare).ends('changed', empty(`${folder}/tree/`), [chown]);

const version = treeFolder(exampleRuntime).path;
const current = currentLink('reference').path;
const use: ScriptCall = { name: 'switch-runtime', args: { tree: exampleRuntime, programs: ['bin/rank'] } };
const program = empty(`${version}/bin/rank`);
const plainUse: ScriptCall = { name: 'switch-runtime', args: { tree: exampleRuntime } };
const folderName = version.split('/').at(-1) ?? '';
const runtimeVersions = { name: 'reference', digests: [exampleRuntime.digest] };
const removeRuntime: ScriptCall = { name: 'remove-runtime-versions', args: runtimeVersions };
const modelVersions = { name: 'tiny', digests: [exampleModel.digest] };
const removeModel: ScriptCall = { name: 'remove-model-versions', args: modelVersions };
const models = versionsFolder(exampleModel).path;
const init = at('bin/ps', "printf '/sbin/launchd\\n'");
const modelThere = { ...bytes, ...init };

const noProgram = 'no-program: bin/rank is not a program of this version';
const versions = tableOf('the scripts for versions');
versions('do not switch to a file that no one may run', use).in(program).ends(noProgram, gone(current));
versions('do not switch to a folder instead of a program', use)
  .in(empty(`${version}/bin/rank/`))
  .ends(noProgram);
versions('do not replace a folder called current', plainUse)
  .in(program, empty(`${current}/a`))
  .ends('odd-link: current is not a link', empty(`${current}/a`));
versions('finish an interrupted switch', plainUse)
  .in(program, linked(`${current}-new`, 'x'), linked(current, 'x'))
  .ends('changed', empty(`${current}/bin/rank`));
versions('remove a runtime version without a current one', removeRuntime)
  .in(program)
  .ends('changed', gone(`${version}/`));
versions('keep the current version', removeRuntime)
  .in(program, linked(current, folderName))
  .ends(`current-version: version ${folderName} is the current one`, program);
versions('change nothing without the runtime version', removeRuntime).ends('unchanged');
versions('remove a model version', removeModel)
  .in(modelThere)
  .ends('changed', gone(`${models}/`));
versions('keep a model version if the processes are unknown', removeModel)
  .in(modelThere, at('bin/ps', 'exit 1'))
  .ends('ps: the processes could not be listed', bytes);
versions('do not follow a link that replaces the models folder', removeModel)
  .in(modelThere, empty('elsewhere/tiny/a'), linked('opt/meshwright/models', '../../elsewhere'))
  .ends('odd-link: $R/opt/meshwright/models is a link');
versions('change nothing without the model version', removeModel).in(init).ends('unchanged');

const sealedText = 'digest=d\nfiles=1\n';
const intactTree = { 'tree/a': 'ab', ...aged('tree/.meshwright-seal', sealedText, -60) };
const isIntact = `${sh.sealedTree({})}\nintact "$R/tree" d && changed\nunchanged`;
const changedSince = 'case $* in (*-cnewer*) printf x ;; (*) exec /usr/bin/find "$@" ;; esac';
const sealedIs = tableOf('a sealed tree');
sealedIs('is intact', isIntact).in(intactTree).ends('changed');
sealedIs('is not intact without a seal', isIntact).in(at('tree/a', 'ab')).ends('unchanged');
sealedIs('is not intact with a different digest', isIntact.replace(' d &&', ' e &&')).in(intactTree).ends('unchanged');
sealedIs('is not intact with an additional file', isIntact).in(intactTree, empty('tree/b')).ends('unchanged');
sealedIs('is intact with an additional folder', isIntact).in(intactTree, empty('tree/b/')).ends('changed');
sealedIs('is not intact if a file has changed since it was sealed', isIntact)
  .in(intactTree, at('tree/.meshwright-seal', sealedText), at('usr/bin/find', changedSince))
  .ends('unchanged');

comparesTraces('staging-states');
