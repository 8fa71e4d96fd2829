// What pages share that show what is new without reloading.

// A browser has few connections to spare: a page that nobody sees holds none, and looks again when it is seen.
export function listen(address, hear, say = () => {}) {
  let stream
  const open = () => {
    stream?.close()
    if (document.hidden) return
    stream = new EventSource(address)
    stream.addEventListener('open', () => {
      say(true)
      hear()
    })
    stream.addEventListener('message', hear)
    stream.addEventListener('error', () => say(false))
  }
  document.addEventListener('visibilitychange', open)
  addEventListener('pagehide', () => stream?.close())
  addEventListener('pageshow', open)
}

// Gives the page as it is now to `show` whenever there is news of it, and tells `say` whether it would hear of any.
export function follow(show, say) {
  sayOnce()
  let running = false
  let wanted = false
  // One at a time, and no more than one in a second, however much there is to tell.
  const ask = async () => {
    wanted = true
    if (running) return
    running = true
    while (wanted && !document.hidden) {
      wanted = false
      await load(show).catch(() => {
        wanted = true
      })
      await new Promise((resolve) => setTimeout(resolve, 1000))
    }
    running = false
  }
  listen(`${location.pathname}/stream`, ask, say)
}

// What was done is not in the address any more when the page is loaded again.
function sayOnce() {
  const here = new URL(location.href)
  if (!here.searchParams.has('done')) return
  here.searchParams.delete('done')
  history.replaceState(null, '', here)
}

async function load(show) {
  const answer = await fetch(location.href)
  if (!answer.ok || new URL(answer.url).pathname !== location.pathname) return location.reload()
  show(await read(answer))
}

export const read = async (answer) => new DOMParser().parseFromString(await answer.text(), 'text/html')
