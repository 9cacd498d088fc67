/** The last word of the line that enroll adds to the keys of an account. */
export const keyMark = 'meshwright';
