// Svelte 5, runes everywhere.
export default { compilerOptions: { runes: true } };
