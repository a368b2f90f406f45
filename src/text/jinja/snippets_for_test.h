// Template snippets and what Jinja2 3.1.6 prints for them, with the environment that transformers sets up (trim_blocks,
// lstrip_blocks, its tojson), the two messages of chat_template_test.cc and a clock at 2025-01-02T03:04:05.
#pragma once

#include <string_view>

namespace camshaft::text {

struct Snippet {
  std::string_view source;
  std::string_view expected;
};

// clang-format off
inline constexpr Snippet kSnippets[] = {
    {R"J({{ 1 + 2 * 3 }}|{{ 7 // 2 }}|{{ -7 // 2 }}|{{ 7 % 3 }}|{{ -7 % 3 }}|{{ 2 ** 10 }}|{{ 7 / 2 }}|{{ 2 ** -1 }}|{{ 7.5 // 2 }}|{{ -7.5 % 2 }})J",
     R"J(7|3|-4|1|2|1024|3.5|0.5|3.0|0.5)J"},
    {R"J({{ 'a' ~ 1 ~ none ~ true ~ 1.5 }}|{{ 'ab' * 3 }}|{{ [1,2] * 2 }}|{{ [1] + [2] }}|{{ (1,2) + (3,) }})J",
     R"J(a1NoneTrue1.5|ababab|[1, 2, 1, 2]|[1, 2]|(1, 2, 3))J"},
    {R"J({{ 1e16 }}|{{ 1e15 }}|{{ 0.0001 }}|{{ 0.00001 }}|{{ 1.0 }}|{{ 1e100 }}|{{ 0.1 + 0.2 }}|{{ 123456789.123 }}|{{ -0.0 }})J",
     R"J(1e+16|1000000000000000.0|0.0001|1e-05|1.0|1e+100|0.30000000000000004|123456789.123|-0.0)J"},
    {R"J({{ [1, 'a', "it's", "q\"q", 'b"\'c', none, true, 1.5, [], {}, {'a': 1}, (1,), ()] }})J",
     R"J([1, 'a', "it's", 'q"q', 'b"\'c', None, True, 1.5, [], {}, {'a': 1}, (1,), ()])J"},
    {R"J({{ 'é\n\t\\x\x02\u200b😀' }}|{{ ['é\n\t\\x\x01\u200b😀\u00ad'] }})J",
     R"J(é
	\x​😀|['é\n\t\\x\x01\u200b😀\xad'])J"},
    {R"J({{ 1 < 2 < 3 }}|{{ 1 < 2 > 5 }}|{{ 'a' in 'abc' }}|{{ 'x' not in ['x'] }}|{{ 1 == 1.0 }}|{{ true == 1 }}|{{ [1] == [1.0] }}|{{ (1,) == [1] }})J",
     R"J(True|False|True|False|True|True|True|False)J"},
    {R"J({{ not true and false }}|{{ 1 or 2 }}|{{ 0 or '' or 'x' }}|{{ 1 and 0 }}|{{ not not 1 }})J",
     R"J(False|1|x|0|True)J"},
    {R"J({{ 'yes' if x else 'no' }}|{{ 'yes' if false }}|{{ ('yes' if false) is undefined }})J",
     R"J(no||True)J"},
    {R"J({{ missing }}|{{ missing|length }}|{{ missing is defined }}|{{ missing|default('d') }}|{{ ''|default('d', true) }}|{{ missing == missing2 }})J",
     R"J(|0|False|d|d|True)J"},
    {R"J({{ messages[0].nothing }}|{{ messages[0].nothing is defined }})J",
     R"J(|False)J"},
    {R"J({{ 'abcdef'[1:4] }}|{{ 'abcdef'[::-1] }}|{{ 'abcdef'[-2:] }}|{{ 'abcdef'[::2] }}|{{ 'abcdef'[10:] }}|{{ [1,2,3,4][1:3] }}|{{ [1,2,3][::-1] }}|{{ 'héllo'[1:3] }}|{{ 'héllo'[-1] }}|{{ 'abc'[5] }}|{{ (1,2,3)[:2] }}|{{ 'abcdef'[-1:0:-2] }})J",
     R"J(bcd|fedcba|ef|ace||[2, 3]|[3, 2, 1]|él|o||(1, 2)|fdb)J"},
    {R"J({% for i in range(3) %}{{ loop.index }}/{{ loop.length }}{{ loop.first }}{{ loop.last }}{{ loop.revindex }}{{ loop.revindex0 }} {% endfor %})J",
     R"J(1/3TrueFalse32 2/3FalseFalse21 3/3FalseTrue10 )J"},
    {R"J({% for i in [] %}x{% else %}empty{% endfor %})J",
     R"J(empty)J"},
    {R"J({% for i in range(10) if i is odd %}{{ i }}:{{ loop.index0 }}:{{ loop.length }} {% endfor %})J",
     R"J(1:0:5 3:1:5 5:2:5 7:3:5 9:4:5 )J"},
    {R"J({% for i in range(10) %}{% if i == 2 %}{% continue %}{% endif %}{% if i == 5 %}{% break %}{% endif %}{{ i }}{% endfor %})J",
     R"J(0134)J"},
    {R"J({% for k, v in {'a': 1, 'b': 2}.items() %}{{ k }}={{ v }};{% endfor %}{% for k in {'a': 1} %}{{ k }}{% endfor %})J",
     R"J(a=1;b=2;a)J"},
    {R"J({% for a, (b, c) in [(1, (2, 3))] %}{{ a }}{{ b }}{{ c }}{% endfor %})J",
     R"J(123)J"},
    {R"J({% for i in [1,2,3] %}{{ loop.previtem }}<{{ i }}>{{ loop.nextitem }} {% endfor %})J",
     R"J(<1>2 1<2>3 2<3> )J"},
    {R"J({% for i in [1,1,2] %}{{ loop.changed(i) }}{{ loop.cycle('a','b') }} {% endfor %})J",
     R"J(Truea Falseb Truea )J"},
    {R"J({% for n in [{'v': 1, 'c': [{'v': 2, 'c': [{'v': 3}]}]}] recursive %}[{{ n.v }}@{{ loop.depth }}{% if n.c %}{{ loop(n.c) }}{% endif %}]{% endfor %})J",
     R"J([1@1[2@2[3@3]]])J"},
    {R"J({% set x = 1 %}{% for i in [1,2] %}{% set x = x + i %}{{ x }}{% endfor %}{{ x }})J",
     R"J(231)J"},
    {R"J({% set ns = namespace(x=0) %}{% for i in [1,2] %}{% set ns.x = ns.x + i %}{% endfor %}{{ ns.x }})J",
     R"J(3)J"},
    {R"J({% if true %}{% set y = 5 %}{% endif %}{{ y }})J",
     R"J(5)J"},
    {R"J({% set a, b = 1, 2 %}{{ a }}{{ b }}|{% set c %}hi {{ a }}{% endset %}[{{ c }}]|{% set d | upper | trim %} low {% endset %}[{{ d }}])J",
     R"J(12|[hi 1]|[LOW])J"},
    {R"J({% macro m(a, b=2, c=a) %}{{ a }}-{{ b }}-{{ c }}{% endmacro %}{{ m(1) }}|{{ m(1, c=5) }}|{{ m(b=1, a=0) }}|{{ m() }})J",
     R"J(1-2-1|1-2-5|0-1-0|-2-)J"},
    {R"J({% macro m(a) %}{{ a }}{{ varargs }}{{ kwargs }}{% endmacro %}{{ m(1, 2, 3, z=4) }})J",
     R"J(1(2, 3){'z': 4})J"},
    {R"J({% macro m() %}<{{ caller() }}>{% endmacro %}{% call m() %}body{% endcall %})J",
     R"J(<body>)J"},
    {R"J({% macro m(items) %}{% for i in items %}{{ caller(i) }},{% endfor %}{% endmacro %}{% call(x) m([1,2]) %}[{{ x }}]{% endcall %})J",
     R"J([1],[2],)J"},
    {R"J({% macro f(n) %}{% if n > 0 %}{{ n }}{{ f(n - 1) }}{% endif %}{% endmacro %}{{ f(5) }})J",
     R"J(54321)J"},
    {R"J({% macro m() %}{{ x }}{% endmacro %}{% set x = 3 %}{{ m() }})J",
     R"J(3)J"},
    {R"J({% filter upper %}abc{{ 'd' }}{% endfilter %}|{% with a = 1, b = 2 %}{{ a + b }}{% endwith %}{{ a }})J",
     R"J(ABCD|3)J"},
    {R"J({% raw %}{{ not }} {% x %}{% endraw %}|{# comment #}|{#- c -#} |x)J",
     R"J({{ not }} {% x %}|||x)J"},
    {R"J(a {%- if true -%} b {%- endif -%} c)J",
     R"J(abc)J"},
    {R"J(  x)J",
     R"J(  x)J"},
    {R"J(y)J",
     R"J(y)J"},
    {R"J(  {%+ if true %}x{% endif +%})J",
     R"J(  x)J"},
    {R"J(z)J",
     R"J(z)J"},
    {R"J({{ "a" "b" }}|{{ 'a\x41\u00e9' }}|{{ "\101" }}|{{ 'a\qb' }}|{{ 'it''s' }})J",
     R"J(ab|aAé|A|a\qb|its)J"},
    {R"J({{ 0x1F }}|{{ 0b101 }}|{{ 0o17 }}|{{ 1_000 }}|{{ 1.5e3 }}|{{ 1e3 }})J",
     R"J(31|5|15|1000|1500.0|1000.0)J"},
    {R"J({{ 'Hello World'|upper }}|{{ 'Hello'|lower }}|{{ 'hello world-foo (bar'|title }}|{{ "hELLO wORLD"|capitalize }}|{{ "they're bill's"|title }}|{{ "they're"  .title() }})J",
     R"J(HELLO WORLD|hello|Hello World-Foo (Bar|Hello world|They're Bill's|They'Re)J"},
    {R"J({{ '  x '|trim }}|{{ 'xxaxx'|trim('x') }}|{{ 5|string + 'a' }}|{{ 'a,b'|replace(',', ';') }}|{{ 'aaa'|replace('a','b',2) }}|{{ 'abc'|replace('', '-') }})J",
     R"J(x|a|5a|a;b|bba|-a-b-c-)J"},
    {R"J({{ '<a href="x">\'&'|escape }}|{{ '<b>'|safe }}|{{ ('<b>'|safe) + '<i>' }}|{{ '<i>' + ('<b>'|safe) }}|{{ ('<b>'|safe) ~ '<i>' }}|{{ '<'|e|e }})J",
     R"J(&lt;a href=&#34;x&#34;&gt;&#39;&amp;|<b>|<b>&lt;i&gt;|&lt;i&gt;<b>|<b><i>|&lt;)J"},
    {R"J({{ 'a\nb\n\nc'|indent }}|{{ 'a\nb'|indent(2, true) }}|{{ 'a\n\nb\n'|indent(1, blank=true) }}|{{ 'a\nb'|indent('> ', first=true) }}|{{ ''|indent }})J",
     R"J(a
    b

    c|  a
  b|a
 
 b
 |> a
> b|)J"},
    {R"J({{ [1,2,3]|join(', ') }}|{{ [{'a':1},{'a':2}]|join('-', attribute='a') }}|{{ 'abc'|join('.') }}|{{ {'a':1}|join }})J",
     R"J(1, 2, 3|1-2|a.b.c|a)J"},
    {R"J({{ [{'a':2,'b':1},{'a':1,'b':2},{'a':1,'b':1}]|sort(attribute='a,b') }})J",
     R"J([{'a': 1, 'b': 1}, {'a': 1, 'b': 2}, {'a': 2, 'b': 1}])J"},
    {R"J({{ {'b':1,'A':2,'c':0}|dictsort }}|{{ {'b':1,'A':2}|dictsort(true) }}|{{ {'b':1,'a':2}|dictsort(by='value') }}|{{ {'b':1,'a':2}|dictsort(reverse=true) }})J",
     R"J([('A', 2), ('b', 1), ('c', 0)]|[('A', 2), ('b', 1)]|[('b', 1), ('a', 2)]|[('b', 1), ('a', 2)])J"},
    {R"J({{ [1,2,2,1,'a','A']|unique|list }}|{{ [1,5,3]|max }}|{{ [1,5,3]|min }}|{{ ['b','A']|min }}|{{ []|max }}|{{ [1,2]|sum }}|{{ [{'a':1},{'a':2}]|sum('a') }}|{{ [1]|sum(start=10) }})J",
     R"J([1, 2, 'a']|5|1|A||3|3|11)J"},
    {R"J({{ [1,2,3]|first }}|{{ [1,2,3]|last }}|{{ []|first }}|{{ 'abc'|first }}|{{ 'abc'|last }}|{{ [1,2]|reverse|list }}|{{ 'abc'|reverse }}|{{ 'abc'|list }}|{{ {'a':1}|list }})J",
     R"J(1|3||a|c|[2, 1]|cba|['a', 'b', 'c']|['a'])J"},
    {R"J({{ [1,2,3,4,5]|batch(2)|list }}|{{ [1,2,3]|batch(2, 'x')|list }}|{{ [1,2,3,4,5]|slice(3)|list }}|{{ [1,2,3,4]|slice(3, 0)|list }})J",
     R"J([[1, 2], [3, 4], [5]]|[[1, 2], [3, 'x']]|[[1, 2], [3, 4], [5]]|[[1, 2], [3, 0], [4, 0]])J"},
    {R"J({{ ['a','b']|map('upper')|list }}|{{ [{'a':1},{}]|map(attribute='a', default=9)|list }}|{{ [1,2,3]|select('odd')|list }}|{{ [1,0,2]|select|list }}|{{ [1,2,3]|reject('gt', 1)|list }}|{{ [{'a':1},{'a':2}]|selectattr('a','equalto',1)|list }}|{{ [{'a':1},{}]|rejectattr('a')|list }}|{{ [{'a':{'b':1}}]|map(attribute='a.b')|list }}|{{ [[1,2]]|map('first')|list }}|{{ [{'a':1}]|selectattr('a','defined')|list|length }})J",
     R"J(['A', 'B']|[1, 9]|[1, 3]|[1, 2]|[1]|[{'a': 1}]|[{}]|[1]|[1]|1)J"},
    {R"J({{ {'a':1}|items|list }}|{{ [3,4]|length }}|{{ 'héé'|length }}|{{ {'a':1}|count }}|{{ -3|abs }}|{{ (-3)|abs }}|{{ -3.5|abs }})J",
     R"J([('a', 1)]|2|3|1|3|3|3.5)J"},
    {R"J({{ 3.7|int }}|{{ '42'|int }}|{{ ' 42 '|int }}|{{ '42.9'|int }}|{{ 'x'|int }}|{{ 'x'|int(7) }}|{{ '1f'|int(base=16) }}|{{ '0x1f'|int(base=16) }}|{{ '3.5'|float }}|{{ 'x'|float }}|{{ 'x'|float(1.5) }}|{{ none|int }}|{{ true|int }}|{{ '1_000'|int }}|{{ 'inf'|float }})J",
     R"J(3|42|42|42|0|7|31|31|3.5|0.0|1.5|0|1|1000|inf)J"},
    {R"J({{ 2.5|round }}|{{ 3.5|round }}|{{ 2.675|round(2) }}|{{ 5|round }}|{{ 1.25|round(1) }}|{{ 2.1|round(0,'ceil') }}|{{ 2.9|round(method='floor') }}|{{ 1234.5|round(-2) }}|{{ 1234|round(-2) }})J",
     R"J(2.0|4.0|2.67|5|1.2|3.0|2.0|1200.0|1200)J"},
    {R"J({{ {'a': 'é"\n', 'b': [1, 2.5, none, true], 'c': {}}|tojson }}|{{ {'a': [1, {'b': 2}], 'e': [], 'f': {}}|tojson(indent=2) }}|{{ '<&>'|tojson }}|{{ {'b':1,'a':2}|tojson(sort_keys=true) }}|{{ [1,2]|tojson(separators=(',',':')) }}|{{ 'é'|tojson(ensure_ascii=true) }}|{{ {1:2, none:3, true: 4}|tojson }}|{{ '\x7f\x1f\u2028'|tojson }})J",
     R"J({"a": "é\"\n", "b": [1, 2.5, null, true], "c": {}}|{
  "a": [
    1,
    {
      "b": 2
    }
  ],
  "e": [],
  "f": {}
}|"<&>"|{"a": 2, "b": 1}|[1,2]|"\u00e9"|{"1": 4, "null": 3}|"\u001f ")J"},
    {R"J({{ 'a b c'.split() }}|{{ ' a  b '.split() }}|{{ 'a,b,,c'.split(',') }}|{{ 'a,b,c'.split(',', 1) }}|{{ 'a b c'.rsplit(' ', 1) }}|{{ ' a b  c '.split(none, 1) }}|{{ ' a b  c '.rsplit(none, 1) }}|{{ ''.split(',') }}|{{ ''.split() }}|{{ 'a<x>b'.split('<x>')[-1] }})J",
     R"J(['a', 'b', 'c']|['a', 'b']|['a', 'b', '', 'c']|['a', 'b,c']|['a b', 'c']|['a', 'b  c ']|[' a b', 'c']|['']|[]|b)J"},
    {R"J({{ '  x '.strip() }}|{{ '  x '.lstrip() }}|{{ ' x '.rstrip() }}|{{ 'xyax'.strip('xy') }}|{{ '\nfoo\n'.strip('\n') }}|{{ 'abc'.startswith('a') }}|{{ 'abc'.endswith(('x','c')) }}|{{ 'abc'.startswith('b', 1) }})J",
     R"J(x|x | x|a|foo|True|True|True)J"},
    {R"J({{ 'a-b-a'.find('a', 1) }}|{{ 'abc'.find('z') }}|{{ 'abca'.rfind('a') }}|{{ 'aXbX'.count('X') }}|{{ 'abc'.index('c') }}|{{ 'abc'.upper() }}|{{ 'Abc'.lower() }}|{{ 'abc def'.title() }}|{{ 'abc'.capitalize() }}|{{ 'aBc'.swapcase() }}|{{ 'ß'.upper() }}|{{ 'ÀÉ'.lower() }})J",
     R"J(4|-1|3|2|2|ABC|abc|Abc Def|Abc|AbC|SS|àé)J"},
    {R"J({{ 'ab'.center(7, '*') }}|{{ 'abc'.center(6, '*') }}|{{ 'ab'.ljust(4) }}|{{ 'ab'.rjust(4, '.') }}|{{ '-42'.zfill(6) }}|{{ 'a\tb'.expandtabs(4) }}|{{ 'pre-x'.removeprefix('pre-') }}|{{ 'x.py'.removesuffix('.py') }}|{{ 'a=b=c'.partition('=') }}|{{ 'a=b=c'.rpartition('=') }}|{{ 'abc'.partition('x') }}|{{ 'a\nb\r\nc'.splitlines() }}|{{ 'a\nb'.splitlines(true) }}|{{ '-'.join(['a','b']) }})J",
     R"J(***ab**|*abc**|ab  |..ab|-00042|a   b|x|x|('a', '=', 'b=c')|('a=b', '=', 'c')|('abc', '', '')|['a', 'b', 'c']|['a\n', 'b']|a-b)J"},
    {R"J({{ 'abc'.isalpha() }}|{{ '12'.isdigit() }}|{{ 'a1'.isalnum() }}|{{ ' '.isspace() }}|{{ 'ABC'.isupper() }}|{{ 'abc'.islower() }}|{{ ''.isalpha() }}|{{ 'Abc Def'.istitle() }}|{{ 'abc'.isascii() }}|{{ 'a_1'.isidentifier() }})J",
     R"J(True|True|True|True|True|True|False|True|True|True)J"},
    {R"J({{ '{} {}'.format(1, 'a') }}|{{ '{1}-{0}'.format('a','b') }}|{{ '{x}'.format(x=5) }}|{{ '{:>5}|{:<5}|{:^5}|{:*^7}'.format('a','b','c','d') }}|{{ '{:.2f}'.format(3.14159) }}|{{ '{:05d}'.format(42) }}|{{ '{:,}'.format(1234567) }}|{{ '{:x}'.format(255) }}|{{ '{:#x}'.format(255) }}|{{ '{!r}'.format('a') }}|{{ '{{}}'.format() }}|{{ '{0[a]}'.format({'a': 1}) }}|{{ '{:+d}'.format(5) }}|{{ '{:.3}'.format('abcdef') }}|{{ '{:%}'.format(0.5) }}|{{ '{:e}'.format(12345.678) }}|{{ '{:g}'.format(0.00001234) }}|{{ '{}'.format(true) }}|{{ '{:5}'.format(true) }}|{{ '{:10.3f}'.format(2) }})J",
     R"J(1 a|b-a|5|    a|b    |  c  |***d***|3.14|00042|1,234,567|ff|0xff|'a'|{}|1|+5|abc|50.000000%|1.234568e+04|1.234e-05|True|    1|     2.000)J"},
    {R"J({{ '%s and %d' % ('a', 5) }}|{{ '%s' % 'x' }}|{{ '%5s|%-5s|%05d|%.2f|%x|%%' % ('a','b',42,3.14159,255) }}|{{ '%(a)s' % {'a': 1} }}|{{ '%s' % [1,2] }}|{{ '%r' % 'a' }}|{{ 'no' % {} }}|{{ '%s %s'|format('a', 1) }}|{{ '%g' % 1.5 }}|{{ '%+d' % 5 }})J",
     R"J(a and 5|x|    a|b    |00042|3.14|ff|%|1|[1, 2]|'a'|no|a 1|1.5|+5)J"},
    {R"J({{ {'a': 1}.get('a') }}|{{ {'a': 1}.get('b') }}|{{ {'a': 1}.get('b', 'c') }}|{{ {'a': 1}.keys()|list }}|{{ {'a': 1}.values()|list }}|{{ {'a': 1}['a'] }}|{{ {'a': 1}.a }}|{{ {'items': 1}['items'] }}|{{ {1: 'x', 'k': 'y'}[1] }}|{{ dict(a=1, **{'b': 2}) }}|{{ dict([('a', 1)]) }})J",
     R"J(1|None|c|['a']|[1]|1|1|1|x|{'a': 1, 'b': 2}|{'a': 1})J"},
    {R"J({{ [1].append is defined }}|{{ [1].append }}|{{ {'pop': 1}['pop'] }})J",
     R"J(False||1)J"},
    {R"J({{ 1 is number }}{{ 1.0 is float }}{{ 1 is integer }}{{ true is integer }}{{ true is boolean }}{{ 'a' is string }}{{ [] is iterable }}{{ 'a' is iterable }}{{ {} is mapping }}{{ [] is sequence }}{{ {} is sequence }}{{ none is none }}{{ 1 is sameas 1 }}{{ true is sameas true }}{{ 1 is sameas true }}{{ 4 is even }}{{ 3 is odd }}{{ 9 is divisibleby 3 }}{{ 1 is in [1] }}{{ 1 is not in [1] }}{{ 'a' is eq 'a' }}{{ 2 is gt 1 }}{{ 'abc' is lower }}{{ 'ABC' is upper }}{{ range is callable }}{{ true is true }}{{ 1 is true }}{{ false is false }}{{ 'upper' is filter }}{{ 'odd' is test }}{{ ('a'|safe) is escaped }}{{ missing is undefined }}{{ missing is none }}{{ missing is iterable }}{{ none is iterable }})J",
     R"J(TrueTrueTrueFalseTrueTrueTrueTrueTrueTrueTrueTrueTrueTrueFalseTrueTrueTrueTrueFalseTrueTrueTrueTrueTrueTrueFalseTrueTrueTrueTrueTrueFalseTrueFalse)J"},
    {R"J({{ 1 is not none and 2 is none }}|{{ not 1 is none }}|{{ 1 if 2 is defined else 3 }})J",
     R"J(False|True|1)J"},
    {R"J({% set j = joiner('; ') %}{{ j() }}a{{ j() }}b{{ j() }}c|{% set c = cycler('x','y') %}{{ c.next() }}{{ c.next() }}{{ c.current }}{{ c.next() }})J",
     R"J(a; b; c|xyxx)J"},
    {R"J({{ range(5)|list }}|{{ range(1,10,3)|list }}|{{ range(5,0,-2)|list }}|{{ range(0)|list }})J",
     R"J([0, 1, 2, 3, 4]|[1, 4, 7]|[5, 3, 1]|[])J"},
    {R"J({{ strftime_now('%d %b %Y %H:%M:%S %A %B %j %y %I %p %-d %e %U %W %V %G %u %w %F %T %D %%') }})J",
     R"J(02 Jan 2025 03:04:05 Thursday January 002 25 03 AM 2  2 00 00 01 2025 4 4 2025-01-02 03:04:05 01/02/25 %)J"},
    {R"J({{ none.x }}|{{ none['x'] }})J",
     R"J(|)J"},
    {R"J({{ [1,2,3][5] }}|{{ {'a':1}['z'] }}|{{ 5['a'] }})J",
     R"J(||)J"},
    {R"J({{ [1,2] < [1,3] }}|{{ 'a' < 'b' }}|{{ 1 < 1.5 }}|{{ (1,'a') < (1,'b') }})J",
     R"J(True|True|True|True)J"},
    {R"J({{ 1 in missing }}|{{ 1 in {1: 2} }}|{{ none in [none] }})J",
     R"J(False|True|True)J"},
    {R"J({% for c in 'héy' %}{{ c }}.{% endfor %})J",
     R"J(h.é.y.)J"},
    {R"J({% if false %}{{ x|nosuch }}{% endif %}ok)J",
     R"J(ok)J"},
    {R"J({% set x = [1,2] %}{{ x.0 }}{{ x[1] }})J",
     R"J(12)J"},
    {R"J({{ messages|length }}|{{ messages[-1].role }}|{{ messages[0]['content'] }}|{{ messages|map(attribute='role')|join(',') }}|{{ messages }})J",
     R"J(2|assistant|Hi é|user,assistant|[{'role': 'user', 'content': 'Hi é'}, {'role': 'assistant', 'content': 'yo'}])J"},
    {R"J({% for m in messages %}{{ m.role }}{% if not loop.last %},{% endif %}{% endfor %})J",
     R"J(user,assistant)J"},
    {R"J({{ messages|selectattr('role','equalto','user')|map(attribute='content')|list }})J",
     R"J(['Hi é'])J"},
    {R"J({{ messages|rejectattr('role','in',['user'])|list|length }})J",
     R"J(1)J"},
    {R"J({{ (messages|groupby('role'))[0][0] }})J",
     R"J(assistant)J"},
    {R"J({% generation %}g{% endgeneration %}|{% for i in [1] %}{% generation %}{{ i }}{% endgeneration %}{% endfor %})J",
     R"J(g|1)J"},
    {R"J({{ 'abc' is string and 'b' in 'abc' }}|{{ 1 if true else 2 if false else 3 }}|{{ (1, 2) }}|{{ 1, 2 }}|{{ (1) }}|{{ () }})J",
     R"J(True|1|(1, 2)|(1, 2)|1|())J"},
    {R"J({{ "a" if "x" == "x" and 1 != 2 or false else "b" }})J",
     R"J(a)J"},
    {R"J({{ {'a': {'b': [1, {'c': 'deep'}]}}.a.b[1].c }})J",
     R"J(deep)J"},
    {R"J({{ 'The quick brown fox'|truncate(10) }}|{{ 'The quick brown fox'|truncate(10, true) }}|{{ 'short'|truncate(10) }}|{{ 'a b c'|wordcount }}|{{ 'a b/ü'|urlencode }}|{{ 'x'|center(5) }}|{{ {'a':1}|attr('items') is callable }})J",
     R"J(The...|The qui...|short|3|a%20b/%C3%BC|  x  |True)J"},
    {R"J({% set ns = namespace() %}{{ ns.x is defined }}{% set ns.x = [] %}{% set ns.x = ns.x + [1] %}{{ ns.x }})J",
     R"J(False[1])J"},
    {R"J({% macro a() %}{% set z = 1 %}{% endmacro %}{{ a() }}{{ z is defined }}|{% macro b(x) %}{% set x = 2 %}{{ x }}{% endmacro %}{{ b(1) }})J",
     R"J(False|2)J"},
    {R"J({% for i in [1,2] %}{% for j in [1,2] %}{{ loop.index }}{% endfor %}{{ loop.index }}{% endfor %})J",
     R"J(121122)J"},
    {R"J({% set items %}{% for i in range(2) %}{{ i }}{% endfor %}{% endset %}{{ items }})J",
     R"J(01)J"},
    {R"J({{ true + true }}|{{ 1 == true }}|{{ 'True' == true }}|{{ none == false }}|{{ [] == false }})J",
     R"J(2|True|False|False|False)J"},
    {R"J({{ 'a' 'b' ~ 'c' }}|{{ ['a', 'b',] }}|{{ {'a': 1,} }}|{{ m(1,) if false }})J",
     R"J(abc|['a', 'b']|{'a': 1}|)J"},
    {R"J(line2" }})J",
     R"J(line2" }})J"},
    {R"J({%- set x = 'y' -%})J",
     R"J()J"},
    {R"J(   {{- x -}}   )J",
     R"J()J"},
    {R"J( end)J",
     R"J( end)J"},
    {R"J(	{% if 1 %}tab{% endif %})J",
     R"J(tab)J"},
    {R"J(a)J",
     R"J(a)J"},
    {R"J(   {# comment #})J",
     R"J()J"},
    {R"J(b{# c #})J",
     R"J(b)J"},
    {R"J(c)J",
     R"J(c)J"},
    {R"J({{ 1 }})J",
     R"J(1)J"},
    {R"J({{ 2 }})J",
     R"J(2)J"},
    {R"J(   {% if 1 %}x{% endif %})J",
     R"J(x)J"},
    {R"J(a {%- if true -%} b {%- endif -%} c
  {% if true %}  
  x
  {% endif %})J",
     R"J(abc
  
  x
)J"},
    {R"J(a {%- if true -%} b {%- endif -%} c
  {% if true %}  
  x
  {% endif %}
)J",
     R"J(abc
  
  x
)J"},
    {R"J(a {%- if true -%} b {%- endif -%} c
  {% if true %}  
  x
  {% endif %}
y)J",
     R"J(abc
  
  x
y)J"},
    {R"J(a {%- if true -%} b {%- endif -%} c
  {% if true %}  
  x
  {% endif %}
y
)J",
     R"J(abc
  
  x
y)J"},
    {R"J(a {%- if true -%} b {%- endif -%} c
  {% if true %}  
  x
  {% endif %}
y
  {%+ if true %}x{% endif +%})J",
     R"J(abc
  
  x
y
  x)J"},
    {R"J(a {%- if true -%} b {%- endif -%} c
  {% if true %}  
  x
  {% endif %}
y
  {%+ if true %}x{% endif +%}
)J",
     R"J(abc
  
  x
y
  x)J"},
    {R"J(a {%- if true -%} b {%- endif -%} c
  {% if true %}  
  x
  {% endif %}
y
  {%+ if true %}x{% endif +%}
z)J",
     R"J(abc
  
  x
y
  x
z)J"},
    {R"J(a {%- if true -%} b {%- endif -%} c
  {% if true %}  
  x
  {% endif %}
y
  {%+ if true %}x{% endif +%}
z
)J",
     R"J(abc
  
  x
y
  x
z)J"},
};

inline constexpr std::string_view kFailingSnippets[] = {
    R"J({{ missing.foo }})J",
    R"J({{ missing + 1 }})J",
    R"J({{ missing|int }})J",
    R"J({{ messages[0].nothing.more }})J",
    R"J({% macro m(a) %}{{ a }}{% endmacro %}{{ m(1, 2) }})J",
    R"J({% macro m(a) %}{{ a }}{% endmacro %}{{ m(z=2) }})J",
    R"J(  {% if true %}  )J",
    R"J(  {% endif %})J",
    R"J({{ [3,1,2]|sort }}|{{ ['b','A','c']|sort }}|{{ ['b','A','c']|sort(case_sensitive=true) }}|{{ [3,1,2]|sort(reverse=true) }}|{{ [{'a':2},{'a':1}]|sort(attribute='a') }}|{{ [3,'a']|sort }})J",
    R"J({{ [1,2]|map('string')|join(',') }}|{{ (['x']|select('equalto','y')) is true }}|{{ 'T' if ([]|select) else 'F' }}|{{ [1,2]|select|length }})J",
    R"J({{ missing|tojson }})J",
    R"J({{ 'abc'.index('z') }})J",
    R"J({{ '%s %s' % 'a' }})J",
    R"J({{ [1,2].append(3) }})J",
    R"J({{ {'a':1}.update({'b':2}) }})J",
    R"J({{ raise_exception('boom ' ~ 1) }})J",
    R"J({{ 'x' + 1 }})J",
    R"J({{ 1 / 0 }})J",
    R"J({{ none() }})J",
    R"J({{ [][0].x }})J",
    R"J({{ 'a' < 1 }})J",
    R"J({{ 1 in none }})J",
    R"J({{ 5 in 'abc' }})J",
    R"J({% for x in 5 %}{% endfor %})J",
    R"J({% for x in none %}{% endfor %})J",
    R"J({{ x|nosuch }})J",
    R"J({% nosuch %})J",
    R"J({{ 1 + }})J",
    R"J({% if true %})J",
    R"J({% endif %})J",
    R"J({{ "abc }})J",
    R"J({{ -1 ** 2 }}|{{ 2 ** 3 ** 2 }}|{{ -2|abs }}|{{ 'a' ~ 'b' * 2 }}|{{ 1 ~ 2 + 3 }}|{{ [1,2,3] | length > 2 }})J",
    R"J({% set x = 1 %}{% set x.y = 2 %})J",
    R"J({{ "line1\)J",
    R"J({% if 1 %})J",
    R"J({% if 1 %})J",
    R"J({% endif %})J",
    R"J({% endif %})J",
};
// clang-format on

}  // namespace camshaft::text
