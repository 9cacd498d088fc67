/**
 * The docs gate: every export of every file of src has a text, and every link in a text leads somewhere. TypeDoc finds
 * both; functions are looked at here, because its own rule would also ask for every function-typed member.
 */
import { Application, ReflectionKind, TSConfigReader, TypeDocReader } from 'typedoc';

const app = await Application.bootstrap({}, [new TSConfigReader(), new TypeDocReader()]);
const project = await app.convert();
if (project === undefined) {
  process.exit(1);
}
app.validate(project);
const functions = project.getReflectionsByKind(ReflectionKind.Function);
for (const one of functions) {
  const isDocumented = one.signatures?.some((signature) => signature.hasComment()) ?? false;
  if (!isDocumented) app.logger.validationWarning(`${one.getFullName()} (Function) does not have any documentation`);
}
process.stdout.write(`${functions.length} functions and every other export have been looked at\n`);
process.exitCode = app.logger.hasErrors() || app.logger.hasWarnings() ? 1 : 0;
