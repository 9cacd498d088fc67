/** The playbooks in this package that `run` takes by name. The others are commands. */
export const ownPlaybooks = [
  'rolling-restart',
  'rolling-reboot',
  'upgrade-macos',
  'upgrade-runtime',
  'nightly',
] as const;

export type OwnPlaybook = (typeof ownPlaybooks)[number];

export const isOwnPlaybook = (word: string): word is OwnPlaybook => ownPlaybooks.some((name) => name === word);
