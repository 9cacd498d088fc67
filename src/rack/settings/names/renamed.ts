/** Whether macOS made this Bonjour name from the wanted one because another computer had that: `studio-1-2`. */
export const isRenamed = (wanted: string, localHostName: string | undefined): boolean =>
  localHostName?.startsWith(`${wanted}-`) === true && /^[1-9]\d{0,3}$/.test(localHostName.slice(wanted.length + 1));
