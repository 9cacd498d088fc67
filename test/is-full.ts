/** Whether enumerations run whole, and not only a sample of them. */
export const isFull = process.env['MESHWRIGHT_FULL'] === '1';
