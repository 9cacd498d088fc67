import { readPlist } from './plist-reader.ts';

/** Where macOS keeps what `launchctl enable` and `disable` said. */
export const overridesPath = '/private/var/db/com.apple.xpc.launchd/disabled.plist';

/** The user of every node. */
export const agentUser = 501;

/** The same of the agents of that user, for sessions over ssh and at the screen alike. */
export const agentOverridesPath = `/private/var/db/com.apple.xpc.launchd/disabled.${agentUser}.plist`;

/** The overrides as macOS keeps them: label and whether it is disabled. */
export const overridesText = (overrides: ReadonlyMap<string, boolean>): string =>
  [
    '<?xml version="1.0" encoding="UTF-8"?>',
    '<!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">',
    '<plist version="1.0">',
    '<dict>',
    ...[...overrides].sort().flatMap(([label, isDisabled]) => [`\t<key>${label}</key>`, `\t<${isDisabled}/>`]),
    '</dict>',
    '</plist>',
    '',
  ].join('\n');

/** Reads them back; none when the text is no list of flags. */
export function readOverrides(text: string): ReadonlyMap<string, boolean> {
  const reading = readPlist(text);
  if (reading.kind === 'refused' || typeof reading.value !== 'object' || Array.isArray(reading.value)) return new Map();
  const entries = Object.entries(reading.value);
  return new Map(entries.flatMap(([label, flag]) => (typeof flag === 'boolean' ? [[label, flag] as const] : [])));
}
