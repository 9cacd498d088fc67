import { ranksAccount } from '../../src/model/account.ts';
import type { Drift } from './converge-hand.ts';

const updates = '"$R/Library/Preferences/com.apple.SoftwareUpdate" AutomaticallyInstallMacOSUpdates';

/** Settings of a Mac that a person or macOS may change between runs. */
export const settingDrifts: readonly Drift[] = [
  {
    of: 'power/sleep',
    what: 'the Mac may sleep',
    batch: 'settings',
    make: ({ asRoot }) => asRoot('"$R/usr/bin/pmset" -a sleep 10'),
  },
  {
    of: 'power/restart-after-power-loss',
    what: 'the Mac stays off after a power loss',
    batch: 'settings',
    make: ({ asRoot }) => asRoot('"$R/usr/bin/pmset" -a autorestart 0'),
  },
  {
    of: 'updates',
    what: 'an upgrade turned automatic updates on again',
    batch: 'settings',
    make: ({ asRoot }) => asRoot(`"$R/usr/bin/defaults" delete ${updates}`),
  },
  {
    of: 'accounts/*',
    what: 'an upgrade removed the account of the ranks',
    batch: 'settings',
    make: ({ asRoot }) => asRoot(`"$R/usr/bin/dscl" . -delete /Users/${ranksAccount}`),
  },
  {
    of: 'names/computer',
    what: 'a person changed the computer name',
    batch: 'settings',
    make: ({ asRoot }) => asRoot('"$R/usr/sbin/scutil" --set ComputerName "Ana\'s Mac"'),
  },
  {
    of: 'names/bonjour',
    what: 'macOS appended a number to the name',
    batch: 'settings',
    make: ({ asRoot, node }) => asRoot(`"$R/usr/sbin/scutil" --set LocalHostName ${node}-2`),
  },
  {
    of: 'names/host',
    what: 'the host name differs',
    batch: 'settings',
    make: ({ asRoot }) => asRoot('"$R/usr/sbin/scutil" --set HostName mac.example.org'),
  },
  {
    of: 'clock',
    what: 'the clock is ahead',
    batch: 'settings',
    make: async ({ fleet, node }) => void (await fleet.setFault(['clock-skew', node])),
  },
  {
    of: 'screen-sharing',
    what: 'Screen Sharing was switched on',
    batch: 'settings',
    make: ({ asRoot }) =>
      asRoot(`"$R/bin/launchctl" enable system/com.apple.screensharing
"$R/bin/launchctl" bootstrap system "$R/System/Library/LaunchDaemons/com.apple.screensharing.plist"`),
  },
  {
    of: 'spotlight',
    what: 'an upgrade turned Spotlight indexing on again',
    batch: 'settings',
    make: ({ asRoot }) => asRoot('"$R/usr/bin/mdutil" -a -i on'),
  },
  {
    of: 'time-machine',
    what: 'backups were set up',
    batch: 'settings',
    make: ({ asRoot }) => asRoot('"$R/usr/bin/tmutil" enable'),
  },
  {
    of: 'photos-analysis',
    what: 'photo analysis was switched on again',
    batch: 'settings',
    make: ({ asRoot }) => asRoot('"$R/bin/launchctl" enable user/501/com.apple.photoanalysisd'),
  },
  {
    of: 'firewall',
    what: 'the firewall was switched on',
    batch: 'settings',
    make: ({ asRoot }) => asRoot('"$R/usr/libexec/ApplicationFirewall/socketfilterfw" --setglobalstate on'),
  },
  {
    of: 'wired-limit',
    what: 'the limit differs',
    batch: 'settings',
    make: ({ asRoot }) => asRoot('"$R/usr/sbin/sysctl" iogpu.wired_limit_mb=4096'),
  },
];
