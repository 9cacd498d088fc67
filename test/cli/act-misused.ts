/** Verbs that act, each without a name, with a name that nothing has, or with an option that it does not take. */
export const misused: readonly (readonly string[])[] = [
  ['stop', '--sim'],
  ['restart', 'chta', '--sim'],
  ['stop', 'studio-1', '--sim'],
  ['start', 'chat', '--all', '--sim'],
  ['drain', 'chat', '--sim'],
  ['reboot', '--sim'],
  ['shutdown', 'studio-9', '--sim'],
  ['ask', '--sim'],
  ['ask', 'chat', '--sim'],
  ['logs', 'chta', '--sim'],
  ['lease', 'release', '--sim'],
  ['apply', '--sim', '--allow', 'reboot'],
];
