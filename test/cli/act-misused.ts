/** Commands without a name, with an unknown name, or with an invalid option. */
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
