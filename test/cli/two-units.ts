import { type FileValue, filePart, first, pairFile, second } from '../scenarios/converge-file.ts';

/** Two cabled Macs with a placement each: one unit for macOS, two for a runtime. */
export const twoUnits = (archive = 'reference', edit: (file: FileValue) => void = () => undefined): FileValue =>
  pairFile((value) => {
    const { sharding: _, ...chat } = filePart(value, 'placements', 'chat');
    value['placements'] = {
      left: { ...chat, nodes: [first], transport: 'tcp' },
      right: { ...chat, nodes: [second], transport: 'tcp' },
    };
    filePart(value, 'runtimes', 'reference')['archive'] = `./dist/${archive}.tar.gz`;
    edit(value);
  });
