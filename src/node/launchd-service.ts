import type { NodePath } from '../model/probe.ts';

/**
 * The first lines of a daemon of ours that launchd starts by its path: `R` follows from where the program lies, so that
 * its text is the same on every node; the tools are macOS's own, and a lost terminal or reader does not end it.
 */
export const daemonPrologue = (program: NodePath): string => `R=\${0%${'/*'.repeat(program.path.split('/').length - 1)}}
export R LC_ALL=C
PATH=$R/usr/bin:$R/bin:$R/usr/sbin:$R/sbin
export PATH
umask 022
trap '' HUP PIPE`;

/** How long launchd is waited for that ends a service of a few moments. */
const usualSeconds = 10;

/** The same for a doorman, which lets requests inside finish: `ExitTimeOut` of its property list, and some more. */
export const doormanEndSeconds = 35;

/** What `service.sh` needs. @param seconds how long `bootout` waits for the end of the service */
export const serviceValues = (label: string, seconds = usualSeconds) => ({ label, end_seconds: seconds });

/** How the property list of each of our services begins. */
export const plistHead = `<?xml version="1.0" encoding="UTF-8"?>
<!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">
<plist version="1.0">
<dict>
`;
