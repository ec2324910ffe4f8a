//! The additional style of study pages.

/// Must come after the style of all pages, which it overrides.
pub(super) const STYLE: &str = r#"<style>
:root { --good: light-dark(#11703c, #6fdc9b); --good-paper: light-dark(#dff3e6, #12351f);
        --bad: light-dark(#a3241d, #ff9d94); --bad-paper: light-dark(#fbe3e1, #42181a);
        --open: light-dark(#7a5200, #f2c46b); --open-paper: light-dark(#fdf0d3, #3a2c0d);
        --card: light-dark(#fff, #161616); --link: light-dark(#1f5fbf, #7fb0ff); }
body { overflow-wrap: break-word; }
h1 { line-height: 1.2; } .lead { font-size: 1.1rem; max-width: 46rem; margin: .2rem 0 1rem; }
h2 { font: 600 1.35rem/1.3 system-ui, sans-serif; margin: .6rem 0 .4rem; }
section > p { max-width: 46rem; } a { color: var(--link); }
section { padding-bottom: 1.6rem; }
nav ol { columns: 18rem; padding-left: 1.4rem; margin: .3rem 0 1.2rem; } nav li { break-inside: avoid; }
nav h2 { font-size: 1rem; margin: 0; }
.banner { border-radius: 6px; padding: .7rem 1rem; margin: 1rem 0; border-left: 5px solid; }
.banner p { margin: .2rem 0; } .banner .state { font-weight: 600; font-size: 1.1rem; }
.banner.partial { background: var(--open-paper); border-color: var(--open); }
.banner.complete { background: var(--good-paper); border-color: var(--good); }
.shares { display: flex; height: .55rem; border-radius: 3px; overflow: hidden; margin: .5rem 0;
          background: light-dark(#0002, #fff2); }
.shares .done { background: var(--good); } .shares .failed { background: var(--bad); }
.shares .running { background: var(--link); }
summary { cursor: pointer; } details { margin: .5rem 0; }
details.table > summary { font-weight: 600; }
.runs { font: .85rem/1.5 ui-monospace, monospace; columns: 16rem; padding-left: 1.2rem; margin: .3rem 0;
        max-height: 22rem; overflow-y: auto; }
.reasons { padding-left: 1.2rem; margin: .3rem 0; max-height: 22rem; overflow-y: auto; }
.badge { display: inline-block; border-radius: 1rem; padding: .05rem .65rem; font-weight: 600; white-space: nowrap; }
.badge.good { color: var(--good); background: var(--good-paper); }
.badge.bad { color: var(--bad); background: var(--bad-paper); }
.badge.open { color: var(--open); background: var(--open-paper); }
figure { margin: 1rem 0 1.6rem; } figcaption { max-width: 46rem; color: var(--faint); margin-top: .4rem; }
figcaption b { color: var(--ink); }
.study-figure { display: block; width: 100%; height: auto; border-radius: 4px; }
.study-figure { min-width: var(--least); } .study-figure.narrow { max-width: 46rem; } .study-figure.broad { max-width: 64rem; }
.wide { -webkit-overflow-scrolling: touch; } .wide img { max-width: 100%; }
.faint { color: var(--faint); white-space: nowrap; }
table.study { margin: .6rem 0 .3rem; } table.study caption { text-align: left; font-weight: 600; padding-bottom: .3rem; }
details table.study caption { display: none; }
.study th, .study td { padding: .22rem .9rem .22rem 0; border-bottom: 1px solid var(--line); vertical-align: top; }
.study thead th { border-bottom: 2px solid var(--line); vertical-align: bottom; }
.study .number { text-align: right; white-space: nowrap; }
.study th.number { white-space: normal; } .study td + td:not(.number) { min-width: 5rem; }
.study th:first-child, .study td:first-child { position: sticky; left: 0; background: var(--paper); max-width: 45vw; }
ul.verdicts { list-style: none; padding: 0; max-width: 60rem; } .verdicts .name { color: var(--faint); }
.verdicts li { border-top: 1px solid var(--line); padding: .45rem 0; } .verdicts p { margin: .15rem 0; }
@media (min-width: 50rem) { .study td:first-child:not(.number) { min-width: 11rem; } }
@media (max-width: 50rem) {
  body { margin: 1rem auto; } h1 { font-size: 1.5rem; }
  dl { display: block; } dd { margin: 0 0 .35rem; }
  .scrolls::before { content: "scroll sideways \2192"; position: sticky; left: 0; font-size: .8rem; color: var(--faint); }
  .wide img { max-width: none; min-width: 44rem; }
  .study td:first-child:not(.number) { min-width: 9.5rem; } .study th.number { min-width: 4.5rem; }
}
</style>
"#;
