/**
 * The docs gate: every export of the library has a docstring, and every link in a docstring of src has a target.
 * TypeDoc checks the links; it sees the library's exports as references to other files.
 */
import { Application, OptionDefaults, ReflectionKind, TSConfigReader, TypeDocReader } from 'typedoc';

// json-schema-to-typescript writes array limits as these tags.
const blockTags = [...OptionDefaults.blockTags, '@minItems', '@maxItems'];
const app = await Application.bootstrap({ blockTags }, [new TSConfigReader(), new TypeDocReader()]);
const project = await app.convert();
if (project === undefined) {
  process.exit(1);
}
app.validate(project);
const library = project.getChildByName('index');
const exported = library?.children?.filter(({ kind }) => kind === ReflectionKind.Reference) ?? [];
for (const reference of exported) {
  const one = reference.getTargetReflectionDeep();
  const isDocumented = one.hasComment() || one.signatures?.some((signature) => signature.hasComment());
  if (!isDocumented) app.logger.validationWarning(`${one.getFullName()} does not have any documentation`);
}
process.stdout.write(`${exported.length} exports of the library checked\n`);
process.exitCode = exported.length === 0 || app.logger.hasErrors() || app.logger.hasWarnings() ? 1 : 0;
