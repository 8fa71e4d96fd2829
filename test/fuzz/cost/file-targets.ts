import { inText, type Target } from './target.ts'

/** A file that is stored, and everything that reads it. */
export function fileTargets(): Target[] {
  let count = 0
  return ['txt', 'md', 'ts', 'csv', 'svg'].map((ending): Target => {
    const nameOf = () => `file-${count}.${ending}`
    return {
      ...inText(1_000_000),
      name: `the content of a .${ending} file`,
      send: (text, { place }) => {
        count++
        const content = Buffer.from(`needle ${text}`).toString('base64')
        return {
          method: 'PUT',
          url: `${place.web}/api/v3/repos/ada/open/contents/${nameOf()}`,
          headers: { authorization: `Bearer ${place.ada}` },
          body: JSON.stringify({ message: 'Add', content, branch: 'main' }),
        }
      },
      follow: ({ place, cookie }) => [
        {
          method: 'GET',
          url: `${place.web}/api/v3/search/code?q=needle+repo:ada/open+filename:${nameOf()}`,
          headers: { authorization: `Bearer ${place.ada}`, accept: 'application/vnd.github.text-match+json' },
        },
        ...['blob', 'blame', 'edit'].map((kind) => ({
          method: 'GET',
          url: `${place.web}/ada/open/${kind}/main/${nameOf()}`,
          headers: { cookie },
        })),
        { method: 'GET', url: `${place.web}/ada/open/commit/main`, headers: { cookie } },
        {
          method: 'GET',
          url: `${place.web}/api/v3/repos/ada/open/commits/main`,
          headers: { authorization: `Bearer ${place.ada}` },
        },
      ],
    }
  })
}
