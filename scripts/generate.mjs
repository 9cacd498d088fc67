/** Runs every `scripts/generate-*`. With `--check`, each only compares. Run with tsx, because some read the sources. */
import { readdirSync } from 'node:fs';
import './make-sources.mjs';

for (const name of readdirSync('scripts').sort()) if (name.startsWith('generate-')) await import(`./${name}`);
