const ANY_BASE64 = /^[A-Za-z0-9+/_-]+={0,2}$/

/**
 * Decodes a file id that was encoded differently: the standard alphabet, padding, percent-encoding, or bits left over.
 * Only to tell its sender what was meant.
 * @returns undefined when it is not base64 at all
 */
export function decodeOtherBase64(text: string): Buffer | undefined {
  const plain = decodePercent(text)
  return ANY_BASE64.test(plain) && plain.replace(/=/g, '').length % 4 !== 1 ? Buffer.from(plain, 'base64') : undefined
}

function decodePercent(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}
