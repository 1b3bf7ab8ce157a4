// Loaded into the function host: without its parent nobody could stop it any more.
process.on('disconnect', () => process.exit())
