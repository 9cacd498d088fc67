import { ranksAccount } from '../../src/model/account.ts';
import type { Drift } from './converge-hand.ts';

const updates = '"$R/Library/Preferences/com.apple.SoftwareUpdate" AutomaticallyInstallMacOSUpdates';

/** Settings of a Mac that somebody, or macOS, may change behind our back. */
export const settingDrifts: readonly Drift[] = [
  {
    of: 'power/sleep',
    what: 'the Mac may sleep',
    batch: 'settings',
    make: ({ asRoot }) => asRoot('"$R/usr/bin/pmset" -a sleep 10'),
  },
  {
    of: 'power/restart-after-power-loss',
    what: 'it stays off after a power loss',
    batch: 'settings',
    make: ({ asRoot }) => asRoot('"$R/usr/bin/pmset" -a autorestart 0'),
  },
  {
    of: 'updates',
    what: 'an upgrade has made macOS update itself again',
    batch: 'settings',
    make: ({ asRoot }) => asRoot(`"$R/usr/bin/defaults" delete ${updates}`),
  },
  {
    of: 'accounts/*',
    what: 'a new macOS has taken the account of ranks away',
    batch: 'settings',
    make: ({ asRoot }) => asRoot(`"$R/usr/bin/dscl" . -delete /Users/${ranksAccount}`),
  },
  {
    of: 'names/computer',
    what: 'somebody gave it a name',
    batch: 'settings',
    make: ({ asRoot }) => asRoot('"$R/usr/sbin/scutil" --set ComputerName "Ana\'s Mac"'),
  },
  {
    of: 'names/bonjour',
    what: 'macOS has appended a number to its name',
    batch: 'settings',
    make: ({ asRoot, node }) => asRoot(`"$R/usr/sbin/scutil" --set LocalHostName ${node}-2`),
  },
  {
    of: 'names/host',
    what: 'its host name is another one',
    batch: 'settings',
    make: ({ asRoot }) => asRoot('"$R/usr/sbin/scutil" --set HostName mac.example.org'),
  },
  {
    of: 'clock',
    what: 'its clock runs ahead',
    batch: 'settings',
    make: async ({ fleet, node }) => void (await fleet.setFault(['clock-skew', node])),
  },
  {
    of: 'screen-sharing',
    what: 'somebody switched Screen Sharing on',
    batch: 'settings',
    make: ({ asRoot }) =>
      asRoot(`"$R/bin/launchctl" enable system/com.apple.screensharing
"$R/bin/launchctl" bootstrap system "$R/System/Library/LaunchDaemons/com.apple.screensharing.plist"`),
  },
  {
    of: 'spotlight',
    what: 'an upgrade has made Spotlight index again',
    batch: 'settings',
    make: ({ asRoot }) => asRoot('"$R/usr/bin/mdutil" -a -i on'),
  },
  {
    of: 'time-machine',
    what: 'somebody set up backups',
    batch: 'settings',
    make: ({ asRoot }) => asRoot('"$R/usr/bin/tmutil" enable'),
  },
  {
    of: 'photos-analysis',
    what: 'somebody let photos be looked through again',
    batch: 'settings',
    make: ({ asRoot }) => asRoot('"$R/bin/launchctl" enable user/501/com.apple.photoanalysisd'),
  },
  {
    of: 'firewall',
    what: 'somebody switched the firewall on',
    batch: 'settings',
    make: ({ asRoot }) => asRoot('"$R/usr/libexec/ApplicationFirewall/socketfilterfw" --setglobalstate on'),
  },
  {
    of: 'wired-limit',
    what: 'the limit is another one',
    batch: 'settings',
    make: ({ asRoot }) => asRoot('"$R/usr/sbin/sysctl" iogpu.wired_limit_mb=4096'),
  },
];
