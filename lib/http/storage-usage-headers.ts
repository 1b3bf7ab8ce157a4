/** How full the workspace is, as far as the answer knows: sent with a promotion and with a full quota. */
export function storageUsageHeaders(quotaBytes: number, usedBytes: number): Record<string, string> {
  return { 'storage-quota-bytes': String(quotaBytes), 'storage-used-bytes': String(usedBytes) }
}
