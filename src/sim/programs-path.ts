/** Where programs of this machine lie on a Mac in namespaces; no script of the product can name it, and no PATH leads there. */
export const programsPath = '/.sim/programs';

/** The Node that runs this program, there. */
export const nodeProgramPath = `${programsPath}/node`;
