import type { Draft } from '../../desired/draft.ts';
import type { FileFinding, FileRule } from '../../desired/rules/rule.ts';
import { listText } from '../../model/lists.ts';
import { runtimeSubject } from '../../model/subject.ts';

/** Rules about the packages of a runtime with this driver. */
export const rules: readonly FileRule[] = [packagesMissing, badVersion];

/** A final release, or one before it such as `0.33.0rc1`. @see PEP 440 */
const versionForm = /^[0-9]{1,4}(?:\.[0-9]{1,4}){1,2}(?:(?:a|b|rc)[0-9]{1,3})?(?:\.post[0-9]{1,3})?$/;

/** Packages come from a version of mlx-lm, from a commit or from a list; wheels match only a list that already exists. */
function packagesMissing({ runtimes }: Draft): readonly FileFinding[] {
  return runtimes.flatMap(({ name, pointer, keys, driver }): readonly FileFinding[] => {
    if (driver?.text !== 'mlx') return [];
    const subject = runtimeSubject(name);
    const has = (key: string): boolean => keys.includes(key);
    const [first, second, ...more] = ['version', 'source', 'requirements'].filter(has);
    if (first === undefined) {
      const detail = 'A runtime with the driver mlx needs `version`, `source` or `requirements`.';
      return [{ code: 'runtime/key-missing', pointer, at: 'key', detail, subject }];
    }
    if (second !== undefined) {
      const all = [first, second, ...more].map((key) => `\`${key}\``);
      const detail = `Runtime ${name} has ${more.length === 0 ? 'both ' : ''}${listText(all)}.`;
      return [{ code: 'mlx/list-and-version', pointer: `${pointer}/${first}`, at: 'key', detail, subject }];
    }
    if (!has('wheels') || has('requirements')) return [];
    const detail = '`wheels` needs `requirements`, the list that its files have to match.';
    return [{ code: 'runtime/key-missing', pointer: `${pointer}/wheels`, at: 'key', detail, subject }];
  });
}

function badVersion({ runtimes }: Draft): readonly FileFinding[] {
  return runtimes.flatMap(({ name, driver, version }): readonly FileFinding[] => {
    if (driver?.text !== 'mlx' || version === undefined || versionForm.test(version.text)) return [];
    const detail = `${version.text} is not a version of mlx-lm, such as 0.32.0.`;
    return [{ code: 'runtime/bad-version', pointer: version.pointer, detail, subject: runtimeSubject(name) }];
  });
}
