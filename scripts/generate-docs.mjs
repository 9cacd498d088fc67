/** Generates the pages of `docs` that show the schemas, the codes, the Macs, and the models that `plan` refuses by. */
import { knownModels, knownPairs } from '../src/drivers/known/tables.generated.ts';
import { codes } from '../src/engine/diagnose/rules.ts';
import { macTable } from '../src/model/macs.ts';
import { clusterPage, errorsPage, knownModelsPage, knownPairsPage, macsPage } from './docs-pages.mjs';
import { playbooksPage } from './playbooks-page.mjs';
import { writePage } from './written-page.mjs';

writePage('docs/cluster-yaml.md', clusterPage());
writePage('docs/playbooks.md', playbooksPage());
writePage('docs/errors.md', errorsPage(codes));
writePage('docs/macs.md', macsPage(macTable));
writePage('docs/known-models.md', knownModelsPage(knownModels));
writePage('docs/known-pairs.md', knownPairsPage(knownPairs));
