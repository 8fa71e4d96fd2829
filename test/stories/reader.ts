import assert from 'node:assert/strict'
import { type Browser, openBrowser, settled, tabTo } from '../browser.ts'
import type { Forge } from '../forge.ts'

/** A person at a browser, who goes back and reloads without sending a form twice. */
export interface Reader extends Browser {
  /** Follows an address of the server. */
  open(path: string): Promise<unknown>
  /** Waits until the address has this path. */
  isAt(path: string | RegExp): Promise<void>
  /** Waits until the content of the page has this text. */
  reads(text: string | RegExp): Promise<void>
  follow(link: string | RegExp): Promise<void>
  press(button: string | RegExp): Promise<void>
  reload(): Promise<void>
  back(path: string | RegExp): Promise<void>
  /** Types into a field, or presses Enter on a link or a button, by keyboard alone. */
  keyTo(selector: string, text?: string): Promise<void>
}

export async function openReader({ web }: Pick<Forge, 'web'>, options: { scripts?: boolean } = {}): Promise<Reader> {
  const browser = await openBrowser(options)
  const { page } = browser
  const sent: string[] = []
  page.on('request', (request) => void (request.method() === 'POST' && sent.push(request.url())))
  const sendsNothing = async (move: () => Promise<unknown>) => {
    const before = sent.length
    await move()
    assert.deepEqual(sent.slice(before), [], `${page.url()} sends nothing again`)
  }
  const content = page.getByRole('main')
  const isAt = async (path: string | RegExp) => {
    await page.waitForURL(({ pathname, search }) =>
      typeof path === 'string' ? pathname === path : path.test(`${pathname}${search}`),
    )
    await settled(page)
  }
  return {
    ...browser,
    isAt,
    open: (path) => page.goto(`${web}${path}`),
    reads: (text) => page.locator('body').getByText(text).first().waitFor(),
    follow: (name) =>
      content
        .getByRole('link', { name, exact: typeof name === 'string' })
        .first()
        .click(),
    press: (name) =>
      content
        .getByRole('button', { name, exact: typeof name === 'string' })
        .first()
        .click(),
    reload: () => sendsNothing(() => page.reload()),
    back: (path) =>
      sendsNothing(async () => {
        await page.goBack()
        await isAt(path)
      }),
    async keyTo(selector, text) {
      await tabTo(page, selector)
      await (text === undefined ? page.keyboard.press('Enter') : page.keyboard.type(text))
    },
  }
}
