// Loaded into the function host: without its parent nothing could stop it.
process.on('disconnect', () => process.exit())
