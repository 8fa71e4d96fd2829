// Runs scripts for the elements of the page that is shown. Turbo keeps the document when a link is followed, so a script cannot rely on being loaded again.

const watched = []

// Calls `open` for each element that matches, once it is on the page. The signal aborts when the element has left the page: pass it to listeners.
export function onElement(selector, open) {
  const entry = { selector, open, opened: new Map() }
  watched.push(entry)
  scan(entry)
}

function scan({ selector, open, opened }) {
  for (const [element, controller] of opened) {
    if (element.isConnected && element.matches(selector)) continue
    controller.abort()
    opened.delete(element)
  }
  for (const element of document.querySelectorAll(selector)) {
    if (opened.has(element)) continue
    const controller = new AbortController()
    opened.set(element, controller)
    open(element, controller.signal)
  }
}

const scanAll = () => {
  for (const entry of watched) scan(entry)
}
for (const event of ['turbo:load', 'turbo:render', 'turbo:frame-render', 'belfry:changed'])
  document.addEventListener(event, scanAll)
