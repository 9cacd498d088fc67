/** Generates the pages of `docs` that show the schema, the codes, the Macs, and the models that `plan` refuses by. */
import { knownModels } from '../src/drivers/known/tables.generated.ts';
import { codes } from '../src/engine/diagnose/rules.ts';
import { macTable } from '../src/model/macs.ts';
import { clusterPage, errorsPage, knownModelsPage, macsPage } from './docs-pages.mjs';
import { writePage } from './written-page.mjs';

writePage('docs/cluster-yaml.md', clusterPage());
writePage('docs/errors.md', errorsPage(codes));
writePage('docs/macs.md', macsPage(macTable));
writePage('docs/known-models.md', knownModelsPage(knownModels));
