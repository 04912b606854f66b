/** Text that would do something if it were taken for more than text: in HTML, Markdown, addresses, styles and terminals. */

const RUN = 'window.hansardWasHere=1'
const AWAY = 'https://elsewhere.example/x'

const HTML = [
  `<script>${RUN}</script>`,
  `<img src=x onerror="${RUN}">`,
  `<img src="${AWAY}.png">`,
  `<svg onload="${RUN}">`,
  `<svg><script>${RUN}</script></svg>`,
  `<svg><use href="${AWAY}.svg#a"/></svg>`,
  `<iframe src="javascript:${RUN}"></iframe>`,
  `<iframe srcdoc="<script>parent.${RUN}</script>"></iframe>`,
  `<object data="${AWAY}"></object>`,
  `<embed src="${AWAY}">`,
  `<link rel=stylesheet href="${AWAY}.css">`,
  `<style>@import "${AWAY}.css"</style>`,
  `<style>body{background:url(${AWAY}.png)}</style>`,
  `<body onload="${RUN}">`,
  `<input autofocus onfocus="${RUN}">`,
  `<details open ontoggle="${RUN}">`,
  `<video><source onerror="${RUN}"></video>`,
  `<audio src="${AWAY}.mp3" autoplay></audio>`,
  `<a href="javascript:${RUN}">a</a>`,
  `<form action="${AWAY}"><button autofocus>b</button></form>`,
  `<meta http-equiv=refresh content="0;url=${AWAY}">`,
  `<base href="${AWAY}/">`,
  `<math><mtext><table><mglyph><style><img src=x onerror="${RUN}">`,
  `</title><script>${RUN}</script>`,
  `</textarea><script>${RUN}</script>`,
  `</pre></code><script>${RUN}</script>`,
  `"><script>${RUN}</script>`,
  `'><img src=x onerror=${RUN}>`,
  `<!--><script>${RUN}</script>-->`,
  `<![CDATA[<script>${RUN}</script>]]>`,
  `<template><script>${RUN}</script></template>`,
  `<noscript><p title="</noscript><img src=x onerror=${RUN}>">`,
  `<xss style="animation-name:spin" onanimationstart="${RUN}">`,
  `<div style="position:fixed;inset:0;background:url(${AWAY})">`,
  `<button popovertarget=x onclick="${RUN}">`,
  `<isindex type=image src=1 onerror=${RUN}>`,
  `&lt;script&gt;${RUN}&lt;/script&gt;`,
  `<scr\u0000ipt>${RUN}</scr\u0000ipt>`,
]

const SCHEMES = [
  `javascript:${RUN}`,
  `JaVaScRiPt:${RUN}`,
  `java\tscript:${RUN}`,
  `java&#10;script:${RUN}`,
  `\u0001javascript:${RUN}`,
  `data:text/html,<script>${RUN}</script>`,
  `data:image/svg+xml,<svg onload="${RUN}">`,
  `data:image/svg+xml;base64,PHN2ZyBvbmxvYWQ9ImFsZXJ0KDEpIi8+`,
  `vbscript:${RUN}`,
  'file:///etc/passwd',
  'blob:https://elsewhere.example/1',
  '//elsewhere.example/x',
  `${AWAY}.png`,
  `http://127.0.0.1:1/${RUN}`,
  `&#106;avascript:${RUN}`,
  `javascript&colon;${RUN}`,
]

const MARKDOWN = SCHEMES.flatMap((to) => [
  `[a](${to})`,
  `![a](${to})`,
  `<${to}>`,
  `[a][b]\n\n[b]: ${to}`,
  `[a](<${to}> "x")`,
  `| a |\n|---|\n| ![b](${to}) |`,
  `\`\`\`${to}\n${to}\n\`\`\``,
  `# [a](${to})`,
])

const ESC = '\u001b'
const TERMINALS = [
  `${ESC}]8;;javascript:${RUN}${ESC}\\click${ESC}]8;;${ESC}\\`,
  `${ESC}]0;<script>${RUN}</script>\u0007`,
  `${ESC}[31m<script>${RUN}</script>${ESC}[0m`,
  `${ESC}]52;c;${'QQ=='.repeat(10)}\u0007`,
  `${ESC}[38;2;1;2;3;url(${AWAY})mred`,
  `${ESC}[999999999999999999999m`,
  `${ESC}Pq#0;2;0;0;0${ESC}\\`,
  `${ESC}[6n${ESC}c${ESC}[?1049h`,
]

const CHARACTERS = [
  '\u202egnp.exe',
  '\u2066a\u2069\u2067b\u2069',
  'a\u200b\u200d\u2060b',
  '\ufeffbom',
  'Z\u0300\u0301\u0302\u0303'.repeat(30),
  '\ud800 lone',
  '\u0000\u0007\u0008\u000b',
  '{{constructor.constructor("alert(1)")()}}',
  '${alert(1)}',
  '__proto__',
  'constructor',
  '%3Cscript%3Ealert(1)%3C/script%3E',
  '../../../../etc/passwd',
  "'; DROP TABLE sessions; --",
  'url(javascript:alert(1))',
  'expression(alert(1))',
  '@import url(https://elsewhere.example/a.css);',
  '</style><script>alert(1)</script>',
]

export const HOSTILE: readonly string[] = [...HTML, ...SCHEMES, ...MARKDOWN, ...TERMINALS, ...CHARACTERS]
