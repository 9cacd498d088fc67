const hostName = /^[A-Za-z0-9]([A-Za-z0-9_-]{0,61}[A-Za-z0-9])?(\.[A-Za-z0-9]([A-Za-z0-9_-]{0,61}[A-Za-z0-9])?)*\.?$/;
const ipv6 = /^[0-9A-Fa-f]*:[0-9A-Fa-f:.]*(%[A-Za-z0-9]{1,15})?$/;
/** sudo reads a name of capitals, digits and `_` alone as a list of accounts. @see sudoers(5), Aliases */
const userName = /^(?![A-Z][A-Z0-9_]*$)[A-Za-z_][A-Za-z0-9_.-]{0,31}$/;

/** Whether a text can be the host of a node: a name or an IP address, never an option or a shell word. */
export const isHost = (text: string): boolean => text.length <= 253 && (hostName.test(text) || ipv6.test(text));

/** Whether a text can be a user of a node. */
export const isUser = (text: string): boolean => userName.test(text);

/** Whether a number can be the TCP port of sshd. */
export const isTcpPort = (port: number): boolean => Number.isInteger(port) && port >= 1 && port <= 65_535;

/**
 * The name under which known_hosts and `cluster.lock` keep the keys of an address: `host` for port 22, else
 * `[host]:port`; the host in lower case, as OpenSSH looks it up.
 */
export function lookupName(host: string, port: number): string {
  const name = host.toLowerCase();
  return port === 22 ? name : `[${name}]:${port}`;
}
