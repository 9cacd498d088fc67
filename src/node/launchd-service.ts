import type { NodePath } from '../model/probe.ts';

/**
 * The first lines of our daemons, which launchd starts by their paths. `R` is derived from the program's path, so that
 * the text is the same on every node. The daemon uses only macOS's tools, and a lost terminal or reader does not stop
 * it.
 */
export const daemonPrologue = (program: NodePath): string => `R=\${0%${'/*'.repeat(program.path.split('/').length - 1)}}
export R LC_ALL=C
PATH=$R/usr/bin:$R/bin:$R/usr/sbin:$R/sbin
export PATH
umask 022
trap '' HUP PIPE`;

/** Seconds to wait for launchd to stop an ordinary service. */
const usualSeconds = 10;

/** Seconds until a gateway has finished requests in flight: `ExitTimeOut` in its property list plus a margin. */
export const gatewayEndSeconds = 35;

/** The values for `service.sh`. @param seconds how long `bootout` waits until the service has stopped */
export const serviceValues = (label: string, seconds = usualSeconds) => ({ label, end_seconds: seconds });

export const plistHead = `<?xml version="1.0" encoding="UTF-8"?>
<!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">
<plist version="1.0">
<dict>
`;
