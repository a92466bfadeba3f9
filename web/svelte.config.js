// Styles of components go into one file: the page's policy allows none in its text.
export default { compilerOptions: { css: "external", runes: true } };
