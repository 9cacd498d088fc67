import type { PlistDict } from './model/plist.ts';

/** The job of Screen Sharing, which comes with macOS. */
export const screenSharingPath = '/System/Library/LaunchDaemons/com.apple.screensharing.plist';

/** As macOS ships it, switched off; without its sockets, since nobody connects to it here. */
export const screenSharingJob: PlistDict = {
  Disabled: true,
  Label: 'com.apple.screensharing',
  ProgramArguments: [
    '/System/Library/CoreServices/RemoteManagement/screensharingd.bundle/Contents/MacOS/screensharingd',
  ],
};
