import { pathWord, tool } from '../paths/node-paths.ts';

/**
 * What `mdutil` says of every volume, and `end` below it: its list has no end of its own. It runs by itself, since a volume
 * that is not there any more (a network disk, a backup) holds it up.
 */
export const spotlightScript = `trap "kill -9 \\$! 2>/dev/null; wait; exit 142" ALRM HUP TERM
${pathWord(tool.mdutil)} -a -s &
wait "$!" && printf "end\\n"`;
