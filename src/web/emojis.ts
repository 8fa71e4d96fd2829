import type { FastifyInstance } from 'fastify'

/** The most used short names of emoji. */
const names = `
+1 👍 -1 👎 100 💯 ambulance 🚑 art 🎨 beer 🍺 bell 🔔 blush 😊 bomb 💣 book 📖 bookmark 🔖 books 📚 boom 💥 broken_heart 💔 bug 🐛 building_construction 🏗️
bulb 💡 calendar 📅 camera 📷 card_file_box 🗃️ cat 🐱 chart_with_upwards_trend 📈 checkered_flag 🏁 cherries 🍒 clap 👏 clipboard 📋 clock1 🕐 coffee ☕
computer 💻 confused 😕 construction 🚧 construction_worker 👷 cool 🆒 cry 😢 crying_cat_face 😿 dancer 💃 dog 🐶 earth_africa 🌍 egg 🥚 email 📧
exclamation ❗ eyes 👀 facepalm 🤦 fire 🔥 floppy_disk 💾 frowning 😦 gear ⚙️ ghost 👻 gift 🎁 globe_with_meridians 🌐 goal_net 🥅 green_heart 💚 grin 😁
grinning 😀 hammer 🔨 handshake 🤝 heart ❤️ heart_eyes 😍 heavy_check_mark ✔️ heavy_minus_sign ➖ heavy_plus_sign ➕ hourglass ⌛ hugs 🤗 inbox_tray 📥
information_source ℹ️ innocent 😇 iphone 📱 joy 😂 key 🔑 kissing_heart 😘 label 🏷️ laughing 😆 link 🔗 lipstick 💄 lock 🔒 loud_sound 🔊 mag 🔍 mailbox 📫
memo 📝 microscope 🔬 monocle_face 🧐 moon 🌔 mute 🔇 neutral_face 😐 no_entry ⛔ no_good 🙅 ok ✅ ok_hand 👌 octopus 🐙 open_mouth 😮 package 📦 page_facing_up 📄
paperclip 📎 partying_face 🥳 pencil2 ✏️ phone ☎️ point_right 👉 poop 💩 pray 🙏 pushpin 📌 question ❓ rage 😡 rainbow 🌈 raised_hands 🙌 recycle ♻️
relaxed ☺️ relieved 😌 rewind ⏪ robot 🤖 rocket 🚀 rotating_light 🚨 satisfied 😆 scream 😱 seedling 🌱 see_no_evil 🙈 shipit 🐿️ shrug 🤷 skull 💀 sleeping 😴
smile 😄 smiley 😃 smirk 😏 sob 😭 sparkles ✨ speech_balloon 💬 star ⭐ star2 🌟 stuck_out_tongue 😛 sunglasses 😎 sunny ☀️ sweat_smile 😅 tada 🎉 thinking 🤔
thumbsdown 👎 thumbsup 👍 triangular_flag_on_post 🚩 trophy 🏆 truck 🚚 twisted_rightwards_arrows 🔀 unlock 🔓 v ✌️ warning ⚠️ wastebasket 🗑️ wave 👋
weary 😩 whale 🐳 wheelchair ♿ white_check_mark ✅ wink 😉 worried 😟 wrench 🔧 x ❌ yum 😋 zap ⚡ zzz 💤`

/** Characters by their name. */
export const emojis: ReadonlyMap<string, string> = new Map(
  names
    .trim()
    .split(/\s+/)
    .map((word, index, words): [string, string] => [word, words[index + 1] ?? ''])
    .filter((_, index) => index % 2 === 0),
)

const codeOf = (character: string) => [...character].map((part) => part.codePointAt(0)?.toString(16)).join('-')
const byCode = new Map([...emojis.values()].map((character) => [codeOf(character), character]))

/** The path of the image of an emoji. */
export const emojiPath = (character: string) => `/emojis/unicode/${codeOf(character)}.svg`

/** Images of emoji: the fonts of the client draw them. */
export function mountEmojis(app: FastifyInstance) {
  app.get<{ Params: { code: string } }>('/emojis/unicode/:code.svg', (request, reply) => {
    const character = byCode.get(request.params.code)
    if (!character) return reply.callNotFound()
    return reply
      .headers({
        'Cache-Control': 'public, max-age=86400',
        'Content-Security-Policy': "default-src 'none'",
        'X-Content-Type-Options': 'nosniff',
      })
      .type('image/svg+xml')
      .send(`<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 72 72"><text y="58" font-size="60">${character}</text></svg>`)
  })
}
