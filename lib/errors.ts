/** The bounds of an expiry that a caller asks for, in seconds: an hour to ninety days, as the first vendor has it. */
export const LEAST_EXPIRY_SECONDS = 3600
export const MOST_EXPIRY_SECONDS = 7_776_000

/** The documented message of each status, for reasons of which it is true: clients may compare it. */
export const DOCUMENTED_MESSAGES = {
  400: 'Invalid request parameters',
  401: 'Missing Authentication header',
  403: 'Only management keys can perform this operation',
  404: 'Resource not found',
  413: 'Request payload too large',
  429: 'Rate limit exceeded',
  500: 'Internal Server Error',
  503: 'Service temporarily unavailable',
} as const

type ErrorStatus = keyof typeof DOCUMENTED_MESSAGES

export interface ReasonRow {
  status: ErrorStatus
  detail: string
  /** Replaces the documented message where that would be wrong: many libraries show nothing else. */
  message?: string
  /** Seconds after which repeating makes sense, if not those of {@link retryAfterOf}. */
  retryAfterSeconds?: number
  /** A faster twin may have caused it, or may have a better answer. */
  twin?: true
  /** With more time there would have been no refusal. */
  needsTime?: true
}

/** In the order of the checks. `npx vitest run test/pages/reasons.test.ts -u` adds a new one to docs/. */
export const REASONS = {
  missing_authorization: { status: 401, detail: 'Send the API key in the Authorization header, as: Bearer <API_KEY>.' },
  malformed_authorization: {
    status: 401,
    message: 'Malformed Authorization header',
    detail: 'The Authorization header must be: Bearer <API_KEY>.',
  },
  invalid_api_key: { status: 401, message: 'Invalid API key', detail: 'The API key is unknown, disabled or expired.' },
  rate_limited: {
    status: 429,
    detail: 'Requests come faster than the rate limit of the API key, or of all keys of its workspace, allows.',
  },
  workspace_disabled: {
    status: 403,
    message: 'Workspace disabled',
    detail: 'The platform has disabled the workspace: its files stay, and its keys work again once it is enabled.',
  },
  permission_denied: {
    status: 403,
    message: 'Only management keys can perform this operation, or keys with the permission for it',
    detail: 'This API key lacks the permission for this operation.',
  },
  platform_key_required: {
    status: 403,
    message: 'Only platform keys can perform this operation',
    detail: 'Workspaces and their keys are managed with a platform key.',
  },
  workspace_mismatch: {
    status: 403,
    message: 'The request names another workspace',
    detail: 'The request names a workspace other than that of its API key or, with a platform key, of its path.',
  },
  invalid_file_shape: { status: 400, detail: 'The File-Shape header must be one of native, compat_a and compat_b.' },
  unsupported_parameter: { status: 400, detail: 'The operation does not know a query parameter or header.' },
  invalid_body: { status: 400, detail: 'The body must be a JSON object with members that the operation knows.' },
  invalid_expiry: {
    status: 400,
    detail: `File-Expires-In, or expires_in_seconds, must be a whole number of seconds from ${LEAST_EXPIRY_SECONDS} to ${MOST_EXPIRY_SECONDS}.`,
  },
  invalid_idempotency_key: {
    status: 400,
    detail: 'The Idempotency-Key header must be 1 to 255 visible ASCII characters, bare or as a quoted string.',
  },
  invalid_precondition: { status: 400, detail: 'A header that says which file is meant is malformed.' },
  invalid_container_id: {
    status: 400,
    detail: 'container_id must be 1 to 128 characters of A-Z, a-z, 0-9, "_" and "-".',
  },
  invalid_file_id: {
    status: 400,
    detail: 'file_id must be "cfile_" followed by the unpadded base64url encoding of the file path in the container.',
  },
  idempotency_key_reused: { status: 400, detail: 'This Idempotency-Key was used for another file.' },
  idempotency_key_spent: {
    status: 400,
    detail:
      'The document that this key made, or that was made of this file, was deleted. Use a new key, or promote the file by a request of its own.',
  },
  invalid_limit: { status: 400, detail: 'limit must be a whole number of at least 1.' },
  invalid_cursor: { status: 400, detail: 'This list did not issue the cursor: start again without it.' },
  invalid_parameter: { status: 400, detail: 'A query parameter has a value that is not allowed.' },
  workspace_not_found: { status: 404, detail: 'There is no workspace with this id.' },
  erasure_not_found: { status: 404, detail: 'The workspace is not to be erased.' },
  erasure_began: { status: 400, detail: 'The erasure has begun.' },
  workspace_erased: { status: 400, detail: 'The workspace is erased, or is to be.' },
  key_not_found: { status: 404, detail: 'The workspace has no key with this name.' },
  workspace_not_empty: {
    status: 400,
    detail: 'The workspace has documents: delete them first. Expired ones go within minutes.',
  },
  workspace_busy: { status: 503, detail: 'Other requests are changing this workspace or its keys at this moment.' },
  document_not_found: { status: 404, detail: 'The workspace has no document with this id.' },
  document_expired: { status: 404, detail: 'The document has expired.' },
  too_many_links: { status: 400, detail: 'The document has 100 links: take some back.' },
  inline_not_allowed: { status: 400, detail: 'Browsers must not show this type: ask for "attachment".' },
  link_not_found: { status: 404, detail: 'There is no such link.' },
  file_not_downloadable: { status: 404, detail: 'The document is there, but its content cannot be read.' },
  container_not_found: { status: 404, detail: 'The workspace has no container with this id.', twin: true },
  container_file_not_found: { status: 404, detail: 'The container exists, but has no file at this path.', twin: true },
  container_file_differs: {
    status: 400,
    detail: 'The file at this path is not the one that the request names.',
    twin: true,
  },
  container_file_exists: {
    status: 400,
    detail: 'The container has another file at this path. To replace it, send "on_existing": "replace".',
  },
  container_file_not_regular: { status: 404, detail: 'The path names a directory or a link, not a file.', twin: true },
  container_file_archived: {
    status: 404,
    detail: 'The file was moved to archive storage and must be restored before it can be read.',
    twin: true,
  },
  container_file_encrypted: {
    status: 404,
    detail: 'The file is encrypted with a key that only its writer has (SSE-C), or that is disabled or gone (KMS).',
    twin: true,
  },
  sha256_unavailable: {
    status: 400,
    detail: 'The file is copied in parts, so its SHA-256 cannot be told: name it by its ETag, without File-Sha256.',
    twin: true,
  },
  file_too_large: { status: 413, detail: 'The file is larger than the largest file that can be promoted.', twin: true },
  storage_quota_exceeded: {
    status: 403,
    message: 'Workspace storage quota exceeded',
    detail: 'The file does not fit into what is left of the storage quota: delete documents, or ask for more.',
  },
  workspace_closed: { status: 403, message: 'Workspace closed', detail: 'The workspace is to be erased.' },
  too_many_promotions: {
    status: 429,
    detail: 'Too many promotions of this workspace are starting at once.',
    needsTime: true,
    twin: true,
  },
  container_file_changed: { status: 503, detail: 'The file changed in the container while it was being copied.' },
  promotion_in_progress: { status: 503, detail: 'Another request is already promoting this document.', twin: true },
  document_expires_soon: {
    status: 503,
    detail:
      'The document expires too soon to be kept for longer. To keep the file, promote it by a request of its own, with another Idempotency-Key.',
  },
  request_timed_out: {
    status: 503,
    detail: 'The operation did not finish in the time one request has.',
    retryAfterSeconds: 5,
    needsTime: true,
  },
  too_many_deletions: { status: 503, detail: 'Too many deletions of this workspace are ending at once.' },
  service_unavailable: {
    status: 503,
    detail: 'A storage service that this one depends on did not answer, or asked to slow down.',
    twin: true,
  },
  internal_error: { status: 500, detail: 'Something failed on our side.' },
} as const satisfies Record<string, ReasonRow>

export type Reason = keyof typeof REASONS
/** A second, after answers that are worth repeating: 429 and 503. */
export const retryAfterOf = ({ status, retryAfterSeconds }: ReasonRow): number | undefined =>
  retryAfterSeconds ?? (status === 429 || status === 503 ? 1 : undefined)

export const rowOf = ({ reason }: { reason: Reason }): ReasonRow => REASONS[reason]

type Metadata = Readonly<Record<string, string | number>>

interface ServiceErrorOptions {
  /** Replaces the reason's general sentence. Callers see it, so it must not contain anything internal. */
  detail?: string
  /** Facts for programs, added to `error.metadata`: snake_case, bytes as integers. Callers see them. */
  metadata?: Metadata
  retryAfterSeconds?: number | undefined
  /** A store was called, but its answer was never read: it may still be at work on the call. */
  isUnanswered?: boolean
  cause?: unknown
}

/** An error that callers are answered with: a reason from the closed set, what they learn, and the hidden cause. */
export class ServiceError extends Error {
  override readonly name = 'ServiceError'
  readonly reason: Reason
  readonly status: ErrorStatus
  readonly detail: string
  readonly metadata: Metadata
  readonly retryAfterSeconds: number | undefined
  readonly isUnanswered: boolean

  constructor(reason: Reason, options: ServiceErrorOptions = {}) {
    const row: ReasonRow = REASONS[reason]
    super(row.message ?? DOCUMENTED_MESSAGES[row.status], options.cause === undefined ? {} : { cause: options.cause })
    this.reason = reason
    this.status = row.status
    this.detail = options.detail ?? row.detail
    this.metadata = options.metadata ?? {}
    this.retryAfterSeconds = options.retryAfterSeconds ?? retryAfterOf(row)
    this.isUnanswered = options.isUnanswered ?? false
  }
}
