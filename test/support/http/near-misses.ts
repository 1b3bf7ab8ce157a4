/** Paths that the API does not have, each with what the answer says of it: the faults one by one, then some at once. */
const PROMOTE = 'POST /v1/containers/{container_id}/files/{file_id}/promote'

interface NearMiss {
  what: string
  path: string
  meant: string
  faults: string
}

export const NEAR_MISSES: readonly NearMiss[] = [
  { what: 'without /v1', path: '/files', meant: 'GET /v1/files', faults: 'It lacks the /v1 at its beginning.' },
  { what: 'with /v1 twice', path: '/v1/v1/files', meant: 'GET /v1/files', faults: 'It has /v1 twice.' },
  { what: 'with a doubled slash', path: '/v1//files', meant: 'GET /v1/files', faults: 'It has a doubled slash.' },
  {
    what: 'with two slashes first',
    path: '//v1/containers/a/files/b/promote',
    meant: PROMOTE,
    faults: 'It has a doubled slash.',
  },
  {
    what: 'with a slash at the end',
    path: '/v1/containers/a/files/b/promote/',
    meant: PROMOTE,
    faults: 'It has a slash at its end.',
  },
  {
    what: 'in other case',
    path: '/v1/Files/file_x/CONTENT',
    meant: 'GET /v1/files/{document_id}/content',
    faults: 'It has upper case where the API has lower case.',
  },
  {
    what: 'with the version in other case',
    path: '/V1/files/file_X',
    meant: 'DELETE or GET /v1/files/{document_id}',
    faults: 'It has upper case where the API has lower case.',
  },
  {
    what: 'with all of it',
    path: '/v1/V1/containers//a/Files/',
    meant: 'GET /v1/containers/{container_id}/files',
    faults:
      'It has /v1 twice. It has a doubled slash. It has a slash at its end. It has upper case where the API has lower case.',
  },
]

/** Paths that are near to none of the API's. */
export const FAR_MISSES = [
  '/documents',
  '/v1/files/a/b',
  '/v1/containers//files',
  '/v1',
  '/v1/filess',
  '/x"}#if(1)$y#end',
]

export function detailOf({ meant, faults }: NearMiss): string {
  return `The API has no such path. Probably meant: ${meant}. ${faults}`
}
