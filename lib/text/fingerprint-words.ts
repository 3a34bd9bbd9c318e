/**
 * 256 words for each language, by which people compare numbers from 0 to 255. Their places never
 * change: two screens show the same word for the same number.
 */
const WORDS = {
  en: words(`
  acorn album amber anchor angle apple apron arrow
  atlas autumn badge bagel bamboo banjo barley barrel
  basket beacon beaver bell berry bicycle biscuit blanket
  blossom bonfire bottle boulder breeze brick bridge broom
  bucket butter button cabin cable cactus camel candle
  canoe canyon carpet carrot castle cedar cello chalk
  cherry chimney circle clay clock clover cobra coconut
  comet copper coral cotton cradle crane crater cricket
  crown crystal curtain daisy dancer desert diamond dolphin
  donkey dragon drum eagle easel echo elbow ember
  engine falcon feather ferry filter finger flute forest
  fossil fountain fox galaxy garden garlic gecko ginger
  giraffe glacier glove goose granite grape guitar hammer
  harbor harvest hazel helmet heron honey hornet hotel
  igloo indigo insect island ivory jacket jaguar jasmine
  jelly jigsaw jungle kayak kettle kitchen kite koala
  ladder lagoon lantern lava lemon leopard library lizard
  lobster locket lotus lunch magnet mango maple marble
  market meadow melon mirror mitten monkey mosaic moss
  motor muffin museum mustard needle nest noodle nutmeg
  oasis ocean olive onion opera orbit orchid otter
  oven owl oyster paddle palace panda paper parrot
  peach pearl pebble pelican pencil pepper piano pigeon
  pillow planet plaza pocket polar pony poppy potato
  prairie pumpkin puppet pyramid quartz quilt rabbit radar
  radish rainbow raven ribbon river robin rocket ruby
  saddle saffron salmon sandal satin saxophone scarf school
  shadow shovel silver sketch sparrow spider spoon squirrel
  statue summit sunset swan tablet tambourine teapot temple
  thistle thunder tiger timber toast tomato tractor trumpet
  tulip tunnel turtle umbrella valley velvet violet violin
  volcano wagon walnut walrus willow window winter zebra
`),
  zh: words(`
  苹果 香蕉 葡萄 西瓜 草莓 樱桃 柠檬 橙子 桃子 菠萝 芒果 石榴
  核桃 花生 土豆 番茄 黄瓜 茄子 白菜 萝卜 南瓜 玉米 豆腐 米饭
  面条 饺子 馒头 豆浆 蜂蜜 黄油 奶酪 饼干 老虎 狮子 大象 熊猫
  猴子 兔子 松鼠 狐狸 骆驼 斑马 长笛 河马 鲸鱼 海豚 鲨鱼 乌龟
  青蛙 蜻蜓 蝴蝶 蜜蜂 蚂蚁 蜘蛛 孔雀 鹦鹉 燕子 麻雀 老鹰 天鹅
  企鹅 鸽子 公鸡 鸭子 山羊 绵羊 水牛 白马 小猫 小狗 刺猬 袋鼠
  螃蟹 龙虾 金鱼 章鱼 贝壳 珊瑚 海星 恐龙 太阳 月亮 星星 彩虹
  云朵 闪电 雷声 雪花 雨伞 春天 夏天 秋天 冬天 早晨 黄昏 午夜
  高山 大海 河流 湖泊 沙漠 森林 草原 瀑布 火山 冰川 岛屿 峡谷
  田野 花园 竹林 沙滩 松树 柳树 梧桐 枫叶 荷花 牡丹 玫瑰 菊花
  梅花 兰花 茉莉 百合 葵花 苔藓 蘑菇 芦苇 桌子 椅子 沙发 窗户
  屋顶 楼梯 台灯 镜子 枕头 被子 毛巾 牙刷 肥皂 水桶 扫帚 篮子
  茶壶 杯子 盘子 筷子 勺子 菜刀 铁锅 烤箱 冰箱 风扇 钟表 钥匙
  锁头 剪刀 针线 纽扣 帽子 围巾 手套 外套 衬衫 裙子 皮鞋 袜子
  腰带 口袋 眼镜 戒指 项链 手表 背包 钱包 钢笔 铅笔 橡皮 尺子
  书本 字典 报纸 信封 邮票 地图 黑板 粉笔 画板 颜料 相机 日历
  钢琴 吉他 笛子 二胡 琵琶 鼓手 喇叭 口琴 歌声 舞台 电影 戏剧
  风筝 气球 积木 陀螺 足球 篮球 排球 棒球 网球 围棋 象棋 游泳
  滑雪 跑步 跳绳 登山 钓鱼 射箭 体操 武术 汽车 火车 飞机 轮船
  帆船 单车 卡车 地铁 火箭 卫星 马车 雪橇 桥梁 隧道 车站 码头
  城堡 宫殿 寺庙 宝塔 长城 学校 医院 银行 书店 市场 工厂 农场
  灯塔 广场 公园 水井
`),
} as const;

/** The words of a fingerprint (`workbench.fingerprint`), in order. */
export const fingerprintWords = (numbers: readonly number[], locale: 'en' | 'zh'): string[] =>
  numbers.map((number) => WORDS[locale][number] ?? '?');

function words(text: string): readonly string[] {
  return text.trim().split(/\s+/);
}
