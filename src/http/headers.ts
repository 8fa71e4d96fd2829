import type { Brand } from '#http/serialization.ts'

const names = { service: 'X-Service', github: 'X-GitHub' }

/** The name of a header that has a different prefix in each dialect. */
export function branded(brand: Brand, name: 'Request-Id' | 'Media-Type' | 'Api-Version-Selected' | 'OTP') {
  return `${names[brand]}-${name}`
}

/** The headers that select a version of the API, and with it the fields of a body. */
const versions = 'X-Service-Api-Version, X-GitHub-Api-Version'

const exposed = (brand: Brand) =>
  [
    'ETag, Link, Location, Retry-After, X-RateLimit-Limit, X-RateLimit-Remaining, X-RateLimit-Used, X-RateLimit-Resource',
    'X-RateLimit-Reset, X-OAuth-Scopes, X-Accepted-OAuth-Scopes, X-Poll-Interval',
    branded(brand, 'OTP'),
    `${branded(brand, 'Media-Type')}, ${branded(brand, 'Request-Id')}, Deprecation, Sunset`,
  ].join(', ')

/** The headers of every API response. */
function fixedHeaders(brand: Brand) {
  return {
    Vary: `Accept, Authorization, Cookie, Accept-Encoding, X-Requested-With, ${versions}`,
    'Access-Control-Allow-Origin': '*',
    'Access-Control-Expose-Headers': exposed(brand),
    'X-Frame-Options': 'deny',
    'X-Content-Type-Options': 'nosniff',
    'X-XSS-Protection': '0',
    'Referrer-Policy': 'origin-when-cross-origin, strict-origin-when-cross-origin',
    'Content-Security-Policy': "default-src 'none'",
  }
}

export const fixed: Record<Brand, Record<string, string>> = { service: fixedHeaders('service'), github: fixedHeaders('github') }

/** The response to a CORS preflight request. It allows every header that the API reads and that scripts may set. */
export const preflight = {
  'Access-Control-Allow-Headers':
    'Authorization, Content-Type, If-Match, If-Modified-Since, If-None-Match, If-Unmodified-Since, X-Requested-With, ' +
    `Last-Event-ID, Traceparent, X-Service-OTP, X-GitHub-OTP, ${versions}`,
  'Access-Control-Allow-Methods': 'GET, POST, PATCH, PUT, DELETE',
  'Access-Control-Max-Age': '86400',
}
