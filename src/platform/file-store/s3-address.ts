import type { Format } from '#platform/setting-values.ts'

export interface S3Credentials {
  key: string
  secret: string
}

/** A bucket of a server that speaks S3. */
export interface S3Address {
  /** Without a path: the bucket is the first part of every path, which all servers understand. */
  origin: string
  bucket: string
  /** Empty, or ends with a slash. */
  prefix: string
  region: string
  /** Null if they come from the environment. */
  credentials: S3Credentials | null
}

export const storageAddress: Format<S3Address> = {
  allowed:
    'an address such as s3://KEY:SECRET@host:9000/bucket/prefix?region=us-east-1&tls=off, in which other characters than letters and digits of KEY and SECRET are percent-encoded',
  read: readStorageAddress,
}

function readStorageAddress(text: string): S3Address | undefined {
  const url = URL.parse(text)
  if (url?.protocol !== 's3:' || url.hash) return undefined
  const { region = 'us-east-1', tls = 'on', ...unknown } = Object.fromEntries(url.searchParams)
  if (Object.keys(unknown).length || !/^[\w-]{1,64}$/.test(region) || !/^(on|off)$/.test(tls)) return undefined
  const server = URL.parse(`${tls === 'on' ? 'https' : 'http'}://${url.host}`)
  const [bucket = '', ...folders] = url.pathname.replace(/^\//, '').replace(/\/$/, '').split('/')
  if (!url.host || !server || !/^[a-z0-9][\w.-]{2,62}$/i.test(bucket)) return undefined
  if (!folders.every((folder) => /^[\w.-]{1,100}$/.test(folder) && !/^\.\.?$/.test(folder))) return undefined
  const credentials = readCredentials(url)
  if (credentials === undefined) return undefined
  return { origin: server.origin, bucket, prefix: folders.map((folder) => `${folder}/`).join(''), region, credentials }
}

/** Undefined if only one of both is there, or one cannot be decoded. */
function readCredentials({ username, password }: URL): S3Credentials | null | undefined {
  if (!username && !password) return null
  if (!username || !password) return undefined
  try {
    return { key: decodeURIComponent(username), secret: decodeURIComponent(password) }
  } catch {
    return undefined
  }
}

/** How downloads reach clients: through Belfry, or from the storage, at its own address or at another one. */
export type Downloads = 'streamed' | 'presigned' | URL

export const downloadRoute: Format<Downloads> = {
  allowed: 'streamed, presigned, or the http or https address without a path at which clients reach the storage',
  read: (text) => {
    if (text === 'streamed' || text === 'presigned') return text
    const url = URL.parse(text)
    return url && /^https?:$/.test(url.protocol) && url.pathname === '/' && !url.search && !url.hash && !url.username
      ? url
      : undefined
  },
}
