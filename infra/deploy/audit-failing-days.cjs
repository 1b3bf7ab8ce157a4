/** Days without a complete round of the audit after which there is an alarm: twice the time of a round, at least two. */
module.exports = async ({ resolveVariable }) => {
  const hours = Number(await resolveVariable('param:auditRoundHours'))
  // What is no number is refused when the parameters are checked.
  return Math.max(2, Math.ceil((2 * hours) / 24) || 0)
}
