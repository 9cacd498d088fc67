/**
 * What the sshd of a Mac that waits for its FileVault password says before it asks for one: three lines, as captured
 * from `ssh host` against a locked macOS 26 and published in the README of avm, a tool for macOS virtual machines.
 *
 * @see apple_ssh_and_filevault(7): password only, no keys, wired network only
 */
export const prebootBanner =
  'This system is locked. To unlock it, use a local account\nname and password. Once successfully\nunlocked, you will be able to connect normally.';
