import { inAddress, inHeader, type Target } from './target.ts'

/** One address of each kind of endpoint; with its own headers, so that the one that is made large is read. */
const places = [
  ['/api/v3/meta', {}],
  ['/api/v3/user', { authorization: 'token' }],
  ['/api/v3/repos/ada/secret/events', { authorization: 'token' }],
  ['/api/v3/repos/ada/open/readme', { authorization: 'token' }],
  ['/', { cookie: 'session' }],
  ['/ada/open', {}],
  ['/ada.atom', {}],
  ['/ada/open.git/info/refs?service=git-upload-pack', {}],
  ['/login/oauth/access_token', { method: 'POST' }],
  ['/assets/none.css', {}],
] as const

/** Those that the sources read, and those that Node and Fastify parse themselves. */
const names = [
  ...['accept', 'accept-encoding', 'accept-language', 'authorization', 'content-type', 'cookie', 'host', 'origin', 'referer'],
  ...['if-none-match', 'if-modified-since', 'if-match', 'range', 'if-range', 'last-event-id', 'traceparent', 'user-agent'],
  ...[
    'x-github-api-version',
    'x-service-api-version',
    'x-github-otp',
    'x-forwarded-for',
    'x-forwarded-proto',
    'x-requested-with',
  ],
  ...['git-protocol', 'content-encoding', 'sec-fetch-site', 'sec-purpose', 'forwarded', 'expect', 'upgrade'],
]

export function headerTargets(): Target[] {
  return places.flatMap(([path, own]) =>
    names.map(
      (name): Target => ({
        ...inHeader,
        name: `header ${name} of ${path}`,
        send: (text, { place, cookie }) => ({
          method: 'method' in own ? own.method : 'GET',
          url: `${place.web}${path}`,
          headers: {
            ...('authorization' in own && { authorization: `Bearer ${place.ada}` }),
            ...('cookie' in own && { cookie }),
            ...{ [name]: text.slice(0, 15_500).trim() },
          },
        }),
      }),
    ),
  )
}

/** Addresses with a rest that is not one part, as a client sends it. */
export function addressTargets(): Target[] {
  const roots = [
    'blame',
    'raw',
    'blob',
    'commits',
    'tree',
    'compare',
    'archive',
    'edit',
    'releases/tag',
    'commit',
    'issues',
    'labels',
  ]
  const paths = [
    ...[
      '/',
      '/ada/',
      '/ada/secret/',
      '/docs/',
      '/settings/',
      '/orgs/',
      '/login?return_to=/',
      '/search?q=',
      '/api/v3/',
      '/assets/',
    ],
    ...roots.flatMap((root) => [`/ada/secret/${root}/`, `/ada/secret/${root}/main/`]),
    '/ada/secret/issues?q=',
    '/ada/secret/archive/',
  ]
  return paths.map(
    (path): Target => ({
      ...inAddress,
      name: `address ${path}…`,
      send: (text, { place, cookie }) => {
        const rest = encodeURIComponent(text).replaceAll('%2F', '/').slice(0, 15_000).replace(/%.?$/, '')
        return { method: 'GET', url: `${place.web}${path}${rest}`, headers: { cookie } }
      },
    }),
  )
}
