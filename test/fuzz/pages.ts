import { signedIn } from '#test/guest.ts'
import { hostileValues, type Pick } from './inputs.ts'
import type { World } from './world.ts'

/** Pages and feeds, which have no document. */
export const starts = [
  ...['/', '/ada', '/ada.atom', '/ada.private.atom', '/acme', '/timeline', '/explore', '/search?q=confidential', '/ada/secret'],
  ...[
    '/ada/secret/issues',
    '/ada/secret/issues/1',
    '/ada/secret/pull/2',
    '/ada/secret/commits/main.atom',
    '/ada/secret/releases.atom',
  ],
  ...['/ada/secret/tags.atom', '/ada/secret/blob/topic/notes.txt', '/ada/secret/archive/topic.tar.gz', '/ada?tab=repositories'],
  ...['/ada/secret.git/info/refs?service=git-upload-pack', '/orgs/acme/people', '/orgs/acme/teams', '/ada/open', '/ben'],
  ...[
    '/notifications',
    '/settings/profile',
    '/settings/tokens',
    '/settings/applications',
    '/organizations/acme/settings/profile',
  ],
  ...['/ada/secret/settings', '/ada/secret/settings/hooks', '/ada/secret/pulse', '/ada/secret/labels', '/ada/secret/milestones'],
]
/** Reading them is an act, they are long, or they show no data. */
export const except = /^\/(?:api|assets|docs|logout|signup)(?:\/|$)|\/archive\//
const most = { pages: 160, alike: 2 }
const parameters = ['page', 'q', 'tab', 'state', 'sort', 'after', 'before', 'type', 'labels', 'return_to', 'path', 'since']

export type Who = 'ada' | 'ben' | 'nobody'
type Cookies = Record<Who, Record<string, string>>
type Read = (who: Who, path: string, headers: Record<string, string>) => Promise<string>

/** What each caller sends to pages. Requests to the API may end a session; then it reads as nobody. */
export async function openSessions(world: World): Promise<Cookies> {
  const cookieOf = async (login: string) => {
    const { cookies } = await signedIn(world, login)
    return { cookie: [...cookies].map(([name, value]) => `${name}=${value}`).join('; ') }
  }
  return { ada: await cookieOf('ada'), ben: await cookieOf('ben'), nobody: {} }
}

/**
 * Reads every kind of page that ada is led to, as her, as ben and without a session, and once more with hostile parameters. Returns the pages that showed
 * ada something private.
 */
export async function readPages(
  { markers }: World,
  cookies: Cookies,
  pick: Pick,
  isOver: () => boolean,
  read: Read,
): Promise<Set<string>> {
  const telling = new Set<string>()
  const waiting = [...starts]
  const shapes = new Map<string, number>(starts.map((path) => [shapeOf(path), most.alike]))
  for (let count = 0; count < most.pages && waiting.length && !isOver(); count++) {
    const path = waiting.shift() ?? ''
    const text = await read('ada', path, cookies.ada)
    if (markers.in(text).length) telling.add(path)
    for (const who of ['ben', 'nobody'] as const) await read(who, path, cookies[who])
    const query = [1, 2].map(() => `${pick(parameters)}=${pick(hostileValues)}`).join('&')
    await read(pick(['ben', 'nobody']), `${path.split('?')[0]}?${query}`, pick([cookies.ben, cookies.nobody]))
    for (const link of linksOf(text)) {
      // A feed with ada's token is hers for everyone who knows it, and an address is repeated in the link to the sign-in page.
      if (except.test(link) || markers.in(link).length) continue
      const known = shapes.get(shapeOf(link)) ?? 0
      if (known >= most.alike || waiting.includes(link)) continue
      shapes.set(shapeOf(link), known + 1)
      waiting.push(link)
    }
  }
  return telling
}

export const linksOf = (text: string) =>
  [...text.matchAll(/href="(\/[^"#]*)/g)]
    .map(([, link = '']) => link.replaceAll('&amp;', '&'))
    .filter((link) => !link.startsWith('//'))

/** Pages that differ in a number, a commit or the value of a parameter only are of one kind. */
export const shapeOf = (path: string) =>
  path
    .replaceAll(/[0-9a-f]{40}/g, 'sha')
    .replaceAll(/\d+/g, '0')
    .replaceAll(/=[^&]*/g, '')
